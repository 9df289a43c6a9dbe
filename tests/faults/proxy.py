"""A lossy line between a client and the office: it can swallow answers, cut what is open, and refuse what comes."""

import contextlib
import socket
import threading
from types import TracebackType


class Proxy:
    """Forwards bytes on a loopback port to the office's; the faults are switched by the test."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.deaf = False  # what the office answers is lost, and the connection with it
        self.closed = False  # nobody gets through
        self.lost = threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Every open connection ends, and no new one is let through until `mend`."""
        self.closed = True
        for pair in self._pairs:
            for end in pair:
                hang_up(end)
        self._pairs.clear()

    def mend(self) -> None:
        self.closed = self.deaf = False

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.closed:
                client.close()
                continue
            office = socket.create_connection(("127.0.0.1", self.target))
            self._pairs.append((client, office))
            for source, sink, answers in ((client, office, False), (office, client, True)):
                threading.Thread(target=self._carry, args=(source, sink, answers), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while piece := source.recv(65536):
                if answers and self.deaf:
                    self.lost.set()
                    break
                sink.sendall(piece)
        except OSError:
            pass
        hang_up(source)
        hang_up(sink)

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.close()
        self.cut()


def hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
