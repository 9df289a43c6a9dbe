"""The pages of addresses and events say what the code does; `python -m tests.house.tables` writes them anew."""

from tests.house.tables import API_PAGE, PAGE, api_table, event_table


def test_the_table_of_events_is_fresh() -> None:
    assert event_table() in PAGE.read_text(encoding="utf-8")


def test_the_table_of_addresses_is_fresh() -> None:
    assert api_table() in API_PAGE.read_text(encoding="utf-8")
