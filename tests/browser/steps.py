"""What people do on the page, in the page's own terms."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Product

PASSWORD = "a long enough sentence"


def sheet(page: Page, name: str) -> None:
    """Fills in and sends the form of the door."""
    page.fill("#name", name)
    page.fill("#email", f"{name.lower()}@example.com")
    page.fill("#password", PASSWORD)
    page.click("form.door-form button[type=submit]")
    expect(page.get_by_test_id("composer-field")).to_be_enabled()


def owner(page: Page, product: Product) -> Page:
    """Alice, by the one-time link the first time and by her password afterwards."""
    page.goto(product.claim_link)
    if page.locator("#name").count():
        sheet(page, "Alice")
    else:
        sign_in(page, product, "Alice")
    return page


def sign_in(page: Page, product: Product, name: str) -> None:
    page.goto(f"{product.url}/signin/")
    page.fill("#email", f"{name.lower()}@example.com")
    page.fill("#password", PASSWORD)
    page.click("form.door-form button[type=submit]")
    expect(page.get_by_test_id("composer-field")).to_be_enabled()


def invited(page: Page, host: Page, product: Product, name: str) -> Page:
    """Somebody who comes in by a link that the owner makes on the page."""
    host.get_by_test_id("invite").click()
    host.get_by_test_id("invite-form").get_by_test_id("submit").click()
    field = host.locator("input.secret")
    expect(field).to_have_value(re.compile("/join/"))
    page.goto(field.input_value())
    host.keyboard.press("Escape")
    sheet(page, name)
    return page


def dm(page: Page, name: str) -> None:
    """Opens the DM with a coworker from the sidebar."""
    page.locator("[data-list=coworkers] a", has_text=name).click()
    expect(page.locator("[data-pane-title]")).to_contain_text(name)


def project(page: Page) -> None:
    page.locator("[data-list=channels] a").first.click()
    expect(page.locator("[data-pane-title]")).to_contain_text("Launch")


def write(page: Page, text: str) -> None:
    """Types and sends with Enter."""
    page.get_by_test_id("composer-field").fill(text)
    page.get_by_test_id("composer-field").press("Enter")


def bodies(page: Page) -> Locator:
    return page.locator("article.message .message-body")


def last(page: Page) -> Locator:
    return page.locator("article.message").last
