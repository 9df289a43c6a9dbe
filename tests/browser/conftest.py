"""A real Chromium against the real product: `serve` on a fresh data folder, and the scripted model server."""

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.fakes import ModelServer
from tests.live_office import free_port

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE_MS = 45_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = shutil.which("chromium") is None
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            if missing and os.environ.get("CI") != "true":
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


class Product:
    """The office as a newcomer starts it."""

    def __init__(self, folder: Path, model: ModelServer | None, language: str) -> None:
        self.port = free_port()
        self.folder, self.model, self.language = folder, model, language
        self.claim_link = ""
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        environment = {**os.environ, "OFFICE_DATA": str(self.folder), "PYTHONUNBUFFERED": "1"}
        environment.pop("DATABASE_URL", None)
        if self.model:
            environment |= {
                "OPENAI_API_KEY": "sk-test-0123456789",
                "OPENAI_BASE_URL": self.model.base_url,
                "OPENAI_MODEL": "scripted-1",
                "OFFICE_PRIVATE_ENDPOINTS": self.model.base_url.split("/")[2],
            }
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port), "--language", self.language]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        self.read_greeting()
        for _ in range(400):  # a refused connection answers at once; the kernel does the waiting
            if self.answers():
                return
        raise AssertionError("the office did not open")

    def read_greeting(self) -> None:
        """Reads what the terminal shows until the place, the link and the word on models have come."""
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.search(r"http://\S+/start/\S+/", line):
                self.claim_link = found[0]
                return
            if "http://" in line and self.claim_link:
                return
        raise AssertionError("the office said nothing")

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            try:
                self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                return False
            raise AssertionError("the office ended") from None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(15)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Product]:
    office = Product(tmp_path_factory.mktemp("office"), model, "en")
    yield office
    office.stop()


@pytest.fixture(autouse=True)
def fresh_scripts(model: ModelServer) -> None:
    model.reset()


@pytest.fixture
def complaints() -> list[str]:
    """What the pages wrote to the console as errors, and every breach of the content security policy."""
    return []


@pytest.fixture
def window(browser: Browser, product: Product, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """`window()` is a fresh browser profile; `window(like=page)` a second window of the same person."""
    contexts: list[BrowserContext] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    def open_window(like: Page | None = None, **options: Any) -> Page:
        context = like.context if like else browser.new_context(**options)
        if like is None:
            contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_window
    for context in contexts:
        context.close()
