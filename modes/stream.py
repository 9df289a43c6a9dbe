"""The text of running answers while it grows: joined per tick for the sockets, saved about once a second.

Ten frames a second a run at most, all runs of the process in one tick; the first piece of an answer goes out at once.
"""

import asyncio
import logging
from collections.abc import Iterable

from django.conf import settings
from django.db import connection, transaction

from modes.models import Run
from office import jobs
from office.live import announce
from office.live.pool import in_pool
from threads.wording import storable

LOG = logging.getLogger(__name__)
TICK_SECONDS = 0.1
SAVE_SECONDS = 1.0
KEPT_PIECES = 500
# Every running answer once a second: one prepared statement instead of a compiled query each.
SAVE = "UPDATE modes_run SET partial = %s WHERE id = %s AND attempt_token = %s AND state = 'running'"


class LiveText:
    """One attempt's text so far. Offsets count characters as Python does: code points."""

    def __init__(self, run: str, stream: str, attempt: int, token: str) -> None:
        self.run, self.stream, self.attempt, self.token = run, stream, attempt, token
        self.reasoning_chars = 0
        self.length = 0
        self.saved = 0
        self._pieces: list[str] = []
        self._unsent: list[str] = []
        self._sent = 0
        self._half = ""  # half a surrogate pair, whose other half the next piece may bring

    @property
    def text(self) -> str:
        """Read by other threads too, so it must change nothing: joining in place would lose what comes meanwhile."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Takes a piece in; it is on its way at the next tick, the very first at once."""
        piece, self._half = whole_characters(self._half + piece)
        if not piece:
            return
        first = self.length == 0
        self._pieces.append(piece)
        if len(self._pieces) > KEPT_PIECES:
            self._pieces = ["".join(self._pieces)]
        self._unsent.append(piece)
        self.length += len(piece)
        ticker.note(self, at_once=first)

    def next_delta(self) -> dict[str, object] | None:
        """What the sockets have not had yet."""
        if not self._unsent:
            return None
        text, offset = "".join(self._unsent), self._sent
        self._unsent.clear()
        self._sent += len(text)
        return {
            "stream": self.stream,
            "run": self.run,
            "attempt": self.attempt,
            "offset": offset,
            "text": text,
        }


def whole_characters(piece: str) -> tuple[str, str]:
    """(what can be stored and sent, half a pair that waits for its other half).

    Unpaired halves and NUL would end the sockets of all who listen, and the saving of everybody's partial texts.
    """
    half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
    piece = piece.removesuffix(half) if half else piece
    if not piece.isascii():
        piece = piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return storable(piece), half


class Ticker:
    """One per process, on the loop that runs the answers."""

    def __init__(self) -> None:
        self.live: dict[str, LiveText] = {}
        self._dirty: dict[str, LiveText] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._saver: asyncio.Task[None] | None = None

    def open(self, text: LiveText) -> None:
        """Follows an answer until `close`."""
        self.live[text.run] = text
        if self._saver is None or self._saver.done():
            self._saver = asyncio.get_running_loop().create_task(self._save_for_ever())

    def close(self, text: LiveText) -> None:
        """Sends what is left and lets go."""
        self._send([text])
        self._dirty.pop(text.run, None)
        if self.live.get(text.run) is text:
            del self.live[text.run]

    def note(self, text: LiveText, *, at_once: bool) -> None:
        if at_once:
            self._send([text])
            return
        self._dirty[text.run] = text
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    async def stop(self) -> None:
        """Lets go of the loop; at shutdown, after the runs have put their texts in order."""
        if self._timer is not None:
            self._timer.cancel()
        if self._saver is not None:
            self._saver.cancel()
        self._timer, self._saver = None, None
        self.live.clear()
        self._dirty.clear()

    def _tick(self) -> None:
        self._timer = None
        dirty, self._dirty = self._dirty, {}
        self._send(dirty.values())

    def _send(self, texts: Iterable[LiveText]) -> None:
        items = [delta for text in texts if (delta := text.next_delta())]
        if items:
            announce.deltas(items)

    async def _heed_stops(self) -> None:
        """A stop asked for in another process is only a mark on the row; here is where the answer is being written."""
        try:
            for run in await in_pool(stops_among, list(self.live)):
                jobs.engine.cancel("mission", run)
        except Exception:  # the next round asks again
            LOG.exception("stops were not looked up")

    async def _save_for_ever(self) -> None:
        while self.live:
            await asyncio.sleep(SAVE_SECONDS)
            if settings.LIVE_PROCESSES > 1:
                await self._heed_stops()
            grown = [(text, text.text) for text in self.live.values() if text.length > text.saved]
            if not grown:
                continue
            try:
                await in_pool(save_partials, [(text.run, text.token, so_far) for text, so_far in grown])
                for text, so_far in grown:
                    text.saved = len(so_far)
            except Exception:  # the next round tries again; the text is in memory still
                LOG.exception("partial texts were not saved")


def stops_among(runs: list[str]) -> list[str]:
    """Those of these runs that somebody asked to stop."""
    return list(Run.objects.filter(pk__in=runs, state="running", stop_requested=True).values_list("pk", flat=True))


def save_partials(rows: list[tuple[str, str, str]]) -> None:
    """Writes the texts so far in one transaction; an attempt that is over is left alone."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(SAVE, [(text, run, token) for run, token, text in rows])


ticker = Ticker()
