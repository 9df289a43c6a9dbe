"""The demonstration model: offered only when installed, and its process never outlives the office."""

import os
import subprocess
import sys
import textwrap

import pytest

from office import local_model
from office.llm import Ask, Endpoint, close_clients, complete

INSTALLED = local_model.available()


def test_without_the_packages_it_is_not_available_and_does_not_start(monkeypatch, tmp_path):
    monkeypatch.setattr(local_model.importlib.util, "find_spec", lambda name: None)
    assert not local_model.available()
    assert local_model.start(tmp_path) is None


def test_a_child_that_fails_at_once_is_reported_and_cleared_away(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(local_model, "_model_file", lambda: tmp_path / "missing.gguf")
    monkeypatch.setattr(local_model.sys, "executable", "/bin/false")
    assert local_model.start(tmp_path) is None
    assert "did not start" in caplog.text
    assert local_model._child is None


def test_the_child_ends_when_its_parent_s_pipe_closes():
    code = "import threading; from office.local_model import _end_with_parent as end; print('up', flush=True); end()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"up\n"
    assert child.poll() is None
    child.stdin.close()
    assert child.wait(10) == 0
    child.stdout.close()


@pytest.mark.skipif(not INSTALLED, reason="the local extra is not installed")
async def test_the_small_model_answers(tmp_path):
    url = local_model.start(tmp_path)
    pinned = frozenset({url.removeprefix("http://").removesuffix("/v1")})
    ask = Ask(Endpoint(url, pinned=pinned), "local", [{"role": "user", "content": "Hello!"}], {"max_tokens": 8})
    assert (await complete(ask)).text
    await close_clients()
    local_model.stop()


@pytest.mark.skipif(not INSTALLED, reason="the local extra is not installed")
def test_the_small_model_s_process_dies_with_a_killed_office(tmp_path):
    code = f"""
        import os, pathlib, signal
        from office import local_model
        local_model.start(pathlib.Path({str(tmp_path)!r}))
        print(local_model._child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    told = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, check=False)
    # The child's own output pipe closes with it: the run above returns only once nobody holds that pipe.
    assert not os.path.exists(f"/proc/{int(told.stdout)}/exe")
