"""Takes the README's pictures anew: `python -m tests.browser.picture`."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import FLAGS, ROOT, Product
from tests.browser.steps import dm, last, owner, write
from tests.fakes import ModelServer, story

FOLDER = ROOT / "office/web/pictures"
ASK = "We open the booth on Friday. What must be ready by Thursday evening, and who does what?"
ANSWER = """Three things decide whether Friday works:

1. **People**: two for the desk, in shifts of three hours
2. **Material**: 200 leaflets, one printed price list
3. **The demo**: it must run *without* the hall's network

| What | Who | By |
|---|---|---|
| Leaflets to the printer | Nora | Tue 17:00 |
| Offline demo | Theo | Wed 12:00 |
| Price list, checked twice | Sam | Thu 15:00 |

The one decision that everything waits for: **do we show the new price?**
"""


def take(folder: Path) -> None:
    """One conversation, and the receipt of its answer."""
    folder.mkdir(exist_ok=True)
    with ModelServer() as model, sync_playwright() as playwright:
        office = Product(Path(tempfile.mkdtemp()), model, "en")
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        owner(page, office)
        dm(page, "Mina")
        model.queue(story(*ANSWER.splitlines(keepends=True)))
        write(page, ASK)
        expect(last(page)).to_contain_text("new price?")
        expect(last(page).get_by_test_id("receipt")).to_be_visible()
        page.screenshot(path=folder / "office.png")
        last(page).get_by_test_id("receipt").click()
        expect(page.locator("[data-hash=same]")).to_be_visible()
        page.screenshot(path=folder / "receipt.png")
        chromium.close()
        office.stop()


if __name__ == "__main__":
    take(FOLDER)
