"""Coming in by links that work once, roles, and leaving."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from office.actions import founding, people
from office.errors import Refused
from office.models import Invite, Membership, Office, Person
from tests.cast import PASSWORD, Cast, extra_person
from tests.desk import Desk, beside


@pytest.fixture
def link(transactional_db: None) -> str:
    """The one-time link of an office that nobody has claimed."""
    return str(founding.new_claim_link(founding.found_office(language="en")))


def claim(token: str, name: str = "Ann", language: str = "en", **more: str) -> Person:
    sheet = {"email": f"{name.lower()}@example.com", "password": PASSWORD, **more}
    return people.claim_office(token=token, name=name, language=language, **sheet)


def code_of(step: Callable[[], object]) -> str:
    with pytest.raises(Refused) as refused:
        step()
    return refused.value.code


def test_the_link_makes_its_holder_the_owner(link: str) -> None:
    assert Membership.objects.get(person=claim(link)).role == "owner"


def test_the_link_works_once(link: str) -> None:
    claim(link)
    assert code_of(lambda: claim(link, "Ben")) == "link_spent"


def test_of_two_at_the_same_moment_one_becomes_the_owner(link: str) -> None:
    refused: list[str] = []

    def try_it(name: str) -> None:
        try:
            claim(link, name)
        except Refused as error:
            refused.append(error.code)

    threads = [beside(lambda name=name: try_it(name)) for name in ("Ann", "Ben")]
    for thread in threads:
        thread.join()
    assert refused == ["link_spent"]
    assert Membership.objects.filter(role="owner").count() == Person.objects.count() == 1


def test_a_wrong_token_opens_nothing(link: str) -> None:
    assert code_of(lambda: claim("wrong" + link)) == "link_spent"
    assert code_of(lambda: claim("")) == "link_spent"


def test_a_claim_that_fails_leaves_the_link_as_it_was(link: str) -> None:
    assert code_of(lambda: claim(link, password="short")) == "password_weak"
    assert claim(link).name == "Ann"


def test_a_fresh_link_ends_the_one_before(link: str) -> None:
    fresh = founding.new_claim_link(Office.objects.get())
    assert code_of(lambda: claim(link)) == "link_spent"
    assert claim(str(fresh)).name == "Ann"


def test_a_claimed_office_gives_no_link_any_more(link: str) -> None:
    claim(link)
    assert founding.new_claim_link(Office.objects.get()) is None


def test_claiming_in_the_other_language_gives_a_staff_of_that_language(link: str) -> None:
    claim(link, language="ja")
    office = Office.objects.get()
    assert office.language == "ja"
    assert {coworker.language for coworker in office.coworkers.all()} == {"ja"}


def join(url: str, name: str = "Dora") -> Person:
    token = url.rstrip("/").rpartition("/")[2]
    return people.join_office(token=token, name=name, email=f"{name.lower()}@example.com", password=PASSWORD)


def test_an_invite_lets_one_person_in(cast: Cast) -> None:
    url = Desk(cast.alice).post("invites/", 201, role="admin")["url"]
    assert Membership.objects.get(person=join(url)).role == "admin"
    assert code_of(lambda: join(url, "Emil")) == "link_spent"


def test_an_invite_expires(cast: Cast) -> None:
    url = Desk(cast.alice).post("invites/", role="member")["url"]
    Invite.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert code_of(lambda: join(url)) == "link_spent"


def test_an_invite_that_was_withdrawn_opens_nothing(cast: Cast) -> None:
    alice = Desk(cast.alice)
    made = alice.post("invites/", role="member")
    alice.delete(f"invites/{made['id']}/", 204)
    assert code_of(lambda: join(made["url"])) == "link_spent"


def test_the_token_of_an_invite_is_shown_once(cast: Cast) -> None:
    alice = Desk(cast.alice)
    token = alice.post("invites/", role="member")["url"].rstrip("/").rpartition("/")[2]
    assert token not in str(alice.get("invites/"))
    assert token not in str(list(Invite.objects.values()))


@pytest.mark.parametrize("role", ["owner", "king"])
def test_nobody_is_invited_as_owner(role: str, cast: Cast) -> None:
    assert Desk(cast.alice).refused("post", "invites/", 422 if role == "owner" else 400, {"role": role})


def test_the_owner_can_be_neither_removed_nor_made_less(cast: Cast) -> None:
    alice = Desk(cast.alice)
    assert alice.refused("delete", f"members/{cast.alice.pk}/", 409) == "owner_stays"
    assert alice.refused("patch", f"members/{cast.alice.pk}/", 422, {"role": "guest"}) == "role_unknown"


def test_what_somebody_wrote_stays_with_their_name_after_they_left(cast: Cast) -> None:
    alice, bob = Desk(cast.alice), Desk(cast.bob)
    thread = bob.enter(cast.project.pk)
    bob.say(thread, "from Bob")
    alice.delete(f"members/{cast.bob.pk}/")
    (message,) = alice.messages(thread)
    assert (message["text"], message["author"]["name"]) == ("from Bob", "Bob")


def test_somebody_who_left_can_be_invited_again_and_starts_anew(cast: Cast) -> None:
    alice = Desk(cast.alice)
    alice.delete(f"members/{cast.bob.pk}/")
    again = join(alice.post("invites/", role="member")["url"], "Bob")
    assert again.pk != cast.bob.pk
    assert Desk(again).get("office/")["me"]["email"] == "bob@example.com"


def test_an_address_is_taken_whatever_its_case(cast: Cast) -> None:
    url = Desk(cast.alice).post("invites/", role="member")["url"]
    assert code_of(lambda: join(url, "BOB")) == "email_taken"


def test_the_list_says_who_is_here(cast: Cast) -> None:
    now = timezone.now()
    Person.objects.filter(pk=cast.alice.pk).update(last_seen=now - timedelta(seconds=20))
    Person.objects.filter(pk=cast.bob.pk).update(last_seen=now - timedelta(seconds=90))
    extra_person(cast, "Nora")
    listed = {one["name"]: one["present"] for one in Desk(cast.alice).get("sidebar/")["people"]}
    assert listed == {"Alice": True, "Bob": False, "Nora": False}
