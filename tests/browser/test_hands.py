"""Keys, input methods, phones, languages: the page under all hands."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from office.words import table
from tests.browser.conftest import Product
from tests.browser.steps import bodies, dm, last, owner, write
from tests.fakes import ModelServer, story

Window = Callable[..., Page]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
COMPOSING = """(field) => field.dispatchEvent(new KeyboardEvent("keydown",
  { key: "Enter", code: "Enter", bubbles: true, cancelable: true, isComposing: true }))"""
LATE = """(field) => {
  field.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
  field.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "変換" }));
  const late = { key: "Enter", code: "Enter", bubbles: true, cancelable: true, keyCode: 229 };
  return field.dispatchEvent(new KeyboardEvent("keydown", late));
}"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Without any model, in Japanese: as a newcomer in Japan sees it first."""
    office = Product(tmp_path_factory.mktemp("office"), None, "ja")
    yield office
    office.stop()


@pytest.mark.parametrize("keys", [COMPOSING, LATE], ids=["composing", "late key"])
def test_enter_that_confirms_a_conversion_sends_nothing(window: Window, product: Product, keys: str) -> None:
    page = owner(window(), product)
    dm(page, "蓮")
    before = bodies(page).count()
    field = page.get_by_test_id("composer-field")
    field.fill("変換の途中")
    field.evaluate(keys)
    expect(field).to_have_value("変換の途中")
    assert bodies(page).count() == before


def test_the_rehearsal_answers_in_japanese_and_says_that_no_model_is_connected(
    window: Window, product: Product
) -> None:
    page = owner(window(), product)
    dm(page, "葵")
    expect(page.get_by_test_id("rehearsal")).to_be_visible()
    write(page, "はじめまして")
    expect(last(page)).to_have_attribute("data-state", "done")
    expect(last(page)).to_contain_text("モデル")


def test_a_draft_survives_a_reload(window: Window, product: Product) -> None:
    page = owner(window(), product)
    dm(page, "健")
    page.get_by_test_id("composer-field").fill("書きかけの文章")
    page.reload()
    expect(page.get_by_test_id("composer-field")).to_have_value("書きかけの文章")
    page.get_by_test_id("composer-field").fill("")


def test_a_refused_text_stays_in_the_writers_hands(window: Window, product: Product) -> None:
    page = owner(window(), product)
    dm(page, "美緒")
    page.get_by_test_id("composer-field").fill("消えては\0困る文章")
    page.get_by_test_id("send").click()
    expect(page.locator("body")).to_contain_text("5")  # the place of the character that cannot be stored
    kept = page.evaluate("Object.values(localStorage).join() + document.querySelector('#composer-field').value")
    assert "困る文章" in kept


def test_on_a_phone_enter_is_a_new_line_and_nothing_overflows(window: Window, product: Product) -> None:
    page = owner(window(**PHONE), product)
    field = page.get_by_test_id("composer-field")
    field.fill("一行目")
    field.press("Enter")
    expect(field).to_have_value("一行目\n")
    field.fill("あ" * 300 + "a" * 3000)
    page.get_by_test_id("send").click()
    expect(bodies(page).filter(has_text="aaaa").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_the_sidebar_is_a_drawer(window: Window, product: Product) -> None:
    page = owner(window(**PHONE), product)
    row = page.locator("[data-list=coworkers] a", has_text="蓮")
    expect(row).not_to_be_in_viewport()
    page.locator("[data-open-sidebar]").click()
    expect(row).to_be_in_viewport()
    row.click()
    expect(row).not_to_be_in_viewport()
    expect(page.locator("[data-pane-title]")).to_contain_text("蓮")


def test_an_answers_actions_are_reached_by_keyboard(window: Window, product: Product) -> None:
    page = owner(window(), product)
    dm(page, "葵")
    write(page, "キーボードで")
    expect(last(page).get_by_test_id("receipt")).to_be_visible()
    last(page).focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.testid") == "receipt":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("receipt-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("receipt-dialog")).to_have_count(0)


def test_a_stream_is_announced_once_and_whole(window: Window, product: Product) -> None:
    page = owner(window(), product)
    dm(page, "葵")
    page.evaluate("""() => { globalThis.said = []; new MutationObserver(() =>
      said.push(document.querySelector('[data-voice]').textContent)).observe(
      document.querySelector('[data-voice]'), { childList: true, characterData: true, subtree: true }) }""")
    write(page, "読み上げて")
    expect(last(page)).to_have_attribute("data-state", "done")
    expect(page.locator("[data-voice]")).to_contain_text("読み上げて")
    assert page.evaluate("said.filter((text) => text.trim()).length") <= 4


@pytest.mark.parametrize("language", ["ja", "en"])
def test_no_key_of_a_word_shows_in_either_language(window: Window, product: Product, language: str) -> None:
    page = owner(window(), product)
    page.evaluate(
        """async (language) => { const token = document.cookie.match(/csrftoken=(\\w+)/)[1];
        await fetch('/api/v1/me/', { method: 'PATCH', body: JSON.stringify({ language }),
          headers: { 'Content-Type': 'application/json', 'X-CSRFToken': token } }) }""",
        language,
    )
    shown = ""
    for path in ("/", "/settings/"):
        page.goto(product.url + path)
        expect(page.locator("[data-list=coworkers] a").first).to_be_visible()
        shown += page.locator("body").inner_text()
    areas = {key.partition(".")[0] for key in table()}
    assert [word for word in shown.split() if word.partition(".")[0] in areas and word in table()] == []
    assert page.evaluate("document.documentElement.lang") == language


def test_a_killed_office_comes_back_and_the_page_with_it(window: Window, tmp_path: Path, model: ModelServer) -> None:
    office = Product(tmp_path, model, "en")
    try:
        page = owner(window(), office)
        model.queue(story("before"), story("after"))
        write(page, "one")
        expect(last(page).locator(".message-body")).to_have_text("before")
        office.kill()
        expect(page.locator("[data-live-bar]")).to_be_visible()
        office.start()
        write(page, "two")
        expect(last(page).locator(".message-body")).to_have_text("after")
        assert [text.strip() for text in bodies(page).all_inner_texts()] == ["one", "before", "two", "after"]
    finally:
        office.kill()
