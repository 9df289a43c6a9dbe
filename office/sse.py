"""Cuts a byte stream into server-sent events, whatever way the bytes were split on their journey."""

MAX_EVENT = 8 * 1024 * 1024


class EventTooLong(Exception):
    """More bytes than any event of a model server has came without an end of line."""


class EventDecoder:
    """Feed it bytes, get the data of each event that is whole.

    Lines are split as bytes and decoded whole, so a character cut between two reads is safe. CRLF, LF and
    CR end a line; data over several lines is joined; comments and other fields are dropped.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []
        self._ended_with_cr = False
        self.comments = 0

    def feed(self, received: bytes) -> list[str]:
        """The data of the events that these bytes complete."""
        if self._ended_with_cr or b"\r" in received:
            received = self._with_plain_line_ends(received)
        *lines, self._rest = (self._rest + received).split(b"\n")
        if len(self._rest) > MAX_EVENT:
            raise EventTooLong
        return self._events(lines)

    def end(self) -> list[str]:
        """What is left when the stream closes without a last empty line."""
        lines, self._rest = [self._rest, b""], b""
        return self._events(lines)

    def _with_plain_line_ends(self, received: bytes) -> bytes:
        if self._ended_with_cr and received.startswith(b"\n"):
            received = received[1:]
        self._ended_with_cr = received.endswith(b"\r")
        return received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _events(self, lines: list[bytes]) -> list[str]:
        found = []
        for line in lines:
            if line.startswith(b"data:"):
                self._lines.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line == b"" and self._lines:
                found.append(b"\n".join(self._lines).decode("utf-8", "replace"))
                self._lines = []
            elif line.startswith(b":"):
                self.comments += 1
        return found
