"""What others do is seen at once where one stands, and the pages beside the office keep the strict policy."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Product
from tests.browser.steps import invited, owner, project

Window = Callable[..., Page]
ARCHIVE = """async () => {
  const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
  const ask = (path, method) => fetch(`/api/v1/${path}`, { method, headers: { "X-CSRFToken": token } });
  const { channels } = await (await ask("sidebar/", "GET")).json();
  return (await ask(`channels/${channels.find((one) => one.kind === "project").id}/`, "DELETE")).status;
}"""


def test_the_window_of_a_model_is_entered_kept_and_taken_back(
    window: Window, product: Product, complaints: list[str]
) -> None:
    page = owner(window(), product)
    page.goto(f"{product.url}/settings/endpoints/")
    row = page.locator("[data-provider][data-kind=openai]")
    for entered in ("128000", ""):
        row.get_by_role("button", name="Change").click()
        form = page.get_by_test_id("endpoint-form")
        form.locator("[name=context_window]").fill(entered)
        form.get_by_test_id("submit").click()
        expect(form).to_have_count(0)
        row.get_by_role("button", name="Change").click()
        expect(form.locator("[name=context_window]")).to_have_value(entered)
        page.keyboard.press("Escape")
    assert complaints == []


def test_the_page_of_the_api_needs_no_exception_from_the_policy(
    window: Window, product: Product, complaints: list[str]
) -> None:
    page = owner(window(), product)
    complaints.clear()  # coming in a second time begins with a link that is spent
    page.goto(f"{product.url}/api/v1/docs/")
    expect(page.locator("article").first).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert complaints == []


def test_a_channel_archived_by_somebody_else_closes_where_one_stands(window: Window, product: Product) -> None:
    alice = owner(window(), product)
    bob = invited(window(), alice, product, "Bob")
    project(bob)
    bob.get_by_test_id("composer-field").fill("half a thought")
    assert alice.evaluate(ARCHIVE) == 204
    expect(bob.get_by_test_id("composer-field")).to_be_disabled()
    expect(bob.get_by_test_id("composer-field")).to_have_value("half a thought")
    expect(bob.locator("[data-list=channels] a")).to_have_count(0)
