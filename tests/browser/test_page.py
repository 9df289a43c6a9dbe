"""What a person does in the browser: coming in, writing, reading along, reloading, looking at what was sent."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Product
from tests.browser.steps import bodies, dm, invited, last, owner, project, sign_in, write
from tests.fakes import ModelServer, gate, story

Window = Callable[..., Page]


def test_the_one_time_link_makes_the_owner_and_works_once(window: Window, product: Product) -> None:
    owner(window(), product)
    other = window()
    other.goto(product.claim_link)
    expect(other.locator("#name")).to_have_count(0)


def test_a_message_is_answered_and_rendered(window: Window, product: Product, model: ModelServer) -> None:
    page = owner(window(), product)
    dm(page, "Theo")
    model.queue(story("Here is **bold** and\n\n```python\n", "print('hi')\n```\n"))
    write(page, "日本語でこんにちは")
    expect(last(page)).to_have_attribute("data-state", "done")
    expect(last(page).locator("strong")).to_have_text("bold")
    expect(last(page).locator("div.code code")).to_contain_text("print")
    expect(page.get_by_test_id("composer-field")).to_have_value("")


def test_a_reload_at_half_of_an_answer_gives_the_whole_once(
    window: Window, product: Product, model: ModelServer
) -> None:
    page = owner(window(), product)
    dm(page, "Nora")
    halfway = gate()
    model.queue(story("first half, ", halfway, "second half"))
    write(page, "Tell me")
    expect(last(page)).to_contain_text("first half")
    page.reload()
    expect(last(page)).to_contain_text("first half")
    halfway.set()
    expect(last(page)).to_have_attribute("data-state", "done")
    expect(last(page).locator(".message-body")).to_have_text("first half, second half")
    expect(bodies(page).get_by_text("Tell me")).to_have_count(1)


def test_two_windows_of_one_person_see_the_same(window: Window, product: Product, model: ModelServer) -> None:
    one = owner(window(), product)
    dm(one, "Sam")
    two = window(like=one)
    two.goto(one.url)
    halfway = gate()
    model.queue(story("counting", halfway, " done"))
    write(one, "Count the money")
    expect(bodies(two).get_by_text("Count the money")).to_have_count(1)
    expect(last(two)).to_contain_text("counting")
    halfway.set()
    expect(last(two).locator(".message-body")).to_have_text("counting done")


def test_two_people_in_the_project_channel_see_each_other_and_the_answer(
    window: Window, product: Product, model: ModelServer
) -> None:
    alice = owner(window(), product)
    bob = invited(window(), alice, product, "Bob")
    project(alice)
    project(bob)
    write(alice, "Good morning, everybody")
    expect(bodies(bob).get_by_text("Good morning, everybody")).to_be_visible()
    model.queue(story("I am here"))
    write(bob, "＠Mina are you there?")
    expect(bodies(alice).get_by_text("are you there?")).to_be_visible()
    expect(last(alice).locator(".message-body")).to_have_text("I am here")
    expect(last(bob).locator(".message-body")).to_have_text("I am here")


def test_what_did_it_see_shows_what_the_model_server_received(
    window: Window, product: Product, model: ModelServer
) -> None:
    page = owner(window(), product)
    dm(page, "Theo")
    model.queue(story("seen"))
    write(page, "What do you see? <|endoftext|> 見えますか")
    expect(last(page).locator(".message-body")).to_have_text("seen")
    last(page).get_by_test_id("receipt").click()
    dialog = page.get_by_test_id("receipt-dialog")
    expect(dialog.locator("[data-hash=same]")).to_be_visible()
    page.evaluate("navigator.clipboard.writeText = async (text) => { globalThis.copied = text }")
    dialog.get_by_test_id("copy-json").click()
    assert json.loads(page.evaluate("globalThis.copied")) == model.chats[-1].body["messages"]


def test_stop_keeps_what_was_written_and_retry_asks_again(window: Window, product: Product, model: ModelServer) -> None:
    page = owner(window(), product)
    dm(page, "Nora")
    model.queue(story("as far as here", gate()), story("all of it"))
    write(page, "A long story")
    expect(last(page)).to_contain_text("as far as here")
    last(page).get_by_test_id("stop").click()
    expect(last(page)).to_have_attribute("data-state", "stopped")
    expect(last(page)).to_contain_text("as far as here")
    last(page).locator("[data-testid=retry], [data-testid=regenerate]").first.click()
    expect(last(page).locator(".message-body")).to_have_text("all of it")
    expect(last(page).get_by_test_id("version")).to_have_text("2/2")


def test_an_edited_question_and_its_answer_stand_beside_the_old_ones(
    window: Window, product: Product, model: ModelServer
) -> None:
    page = owner(window(), product)
    dm(page, "Sam")
    model.queue(story("old answer"), story("new answer"))
    write(page, "old question")
    expect(last(page).locator(".message-body")).to_have_text("old answer")
    question = page.locator("article.message").nth(-2)
    question.get_by_test_id("edit").click()
    question.get_by_test_id("edit-field").fill("new question")
    question.get_by_test_id("edit-send").click()
    expect(last(page).locator(".message-body")).to_have_text("new answer")
    last(page).get_by_test_id("version-before").click()
    expect(last(page).locator(".message-body")).to_have_text("old answer")
    expect(last(page).get_by_test_id("use-version")).to_be_visible()


def test_what_was_posted_while_the_line_was_cut_is_there_once_and_in_order(
    window: Window, product: Product, model: ModelServer
) -> None:
    alice = owner(window(), product)
    project(alice)
    write(alice, "Before the line was cut")
    away = window(like=alice)
    away.goto(alice.url)
    expect(bodies(away).last).to_be_visible()
    other = window()
    sign_in(other, product, "Bob")
    project(other)
    away.context.set_offline(True)
    for number in range(5):
        write(other, f"while you were away {number}")
        expect(bodies(other).get_by_text(f"while you were away {number}")).to_be_visible()
    away.context.set_offline(False)
    expect(bodies(away).get_by_text("while you were away 4")).to_be_visible()
    found = re.findall(r"while you were away (\d)", "\n".join(bodies(away).all_inner_texts()))
    assert found == ["0", "1", "2", "3", "4"]


def test_pages_write_no_errors_and_break_no_policy(
    window: Window, product: Product, model: ModelServer, complaints: list[str]
) -> None:
    page = owner(window(), product)
    dm(page, "Theo")
    model.queue(story("<script>alert(1)</script> [x](javascript:alert(1)) ![p](https://example.com/p.png)"))
    write(page, "<img src=x onerror=alert(1)>")
    expect(last(page)).to_have_attribute("data-state", "done")
    page.goto(f"{product.url}/settings/")
    expect(page.locator("[data-view=settings]")).to_be_visible()
    assert page.locator("article.message script, article.message img").count() == 0
    assert [text for text in complaints if "404" not in text] == []
