"""The one command: it says in a sentence what it cannot work with, and what the person at the terminal needs next."""

import io
import socket

import pytest
from django.core.management import CommandError

from office.actions.founding import found_office
from office.management.commands import serve
from office.models import Office


@pytest.fixture
def office(transactional_db: None) -> Office:
    return found_office(language="en")


def greeting(office: Office) -> str:
    command = serve.Command(stdout=io.StringIO())
    command.greet(office, "127.0.0.1", 8000)
    return str(command.stdout.getvalue())  # type: ignore[attr-defined]


def test_a_port_that_is_taken_is_named_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"{port}.*--port"):
            serve.check_address("127.0.0.1", port)


def test_a_public_address_wants_the_names_people_will_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OFFICE_HOSTS", raising=False)
    with pytest.raises(CommandError, match="OFFICE_HOSTS"):
        serve.check_address("0.0.0.0", 8000)


def test_a_data_folder_that_is_a_file_is_refused_in_a_sentence(settings, tmp_path) -> None:
    settings.OFFICE_DATA = tmp_path / "taken"
    settings.OFFICE_DATA.write_text("")
    with pytest.raises(CommandError, match="OFFICE_DATA"):
        serve.check_folder()


@pytest.mark.parametrize(
    ("spoken", "language"), [("ja_JP.UTF-8", "ja"), ("en_US.UTF-8", "en"), ("de_DE", "en"), ("", "en")]
)
def test_a_new_office_speaks_the_systems_language(spoken: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", spoken)
    assert serve.system_language() == language


def test_the_first_start_prints_the_one_time_link_and_that_no_model_is_connected(office: Office) -> None:
    told = greeting(office)
    assert "http://127.0.0.1:8000/start/" in told
    assert "rehearse" in told


def test_a_claimed_office_prints_no_link(office: Office) -> None:
    Office.objects.update(claimed="2026-01-01T00:00:00Z")
    assert "/start/" not in greeting(Office.objects.get())


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_first_office_has_a_lead_and_at_least_three_trades(language: str, transactional_db: None) -> None:
    staff = list(found_office(language=language).coworkers.all())
    assert len(staff) >= 4
    assert [coworker.is_lead for coworker in staff].count(True) == 1
    assert len({coworker.title for coworker in staff}) == len(staff)
    assert all(len(coworker.persona) > 80 and coworker.language == language for coworker in staff)


def test_a_second_start_founds_nothing_new(office: Office) -> None:
    assert found_office(language="ja") == office
    assert Office.objects.count() == 1
