"""Provider keys are sealed before they are stored; without the right key nothing opens and nothing pretends to."""

import stat

import pytest
from cryptography.fernet import Fernet

from office import secrets
from office.secrets import SecretsUnusable, ensure_keys, last4, open_sealed, reseal, seal

SECRET = "TESTKEY-0123456789-鍵"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of its own, and no key in the environment."""
    from django.conf import settings

    monkeypatch.delenv("OFFICE_SECRET_KEYS", raising=False)
    monkeypatch.setattr(settings, "OFFICE_DATA", tmp_path)
    return tmp_path


def test_what_is_sealed_opens_again_and_shows_nothing_of_itself(folder):
    ensure_keys(folder)
    sealed = seal(SECRET)
    assert open_sealed(sealed) == SECRET
    assert sealed.startswith("v1:")
    assert "TESTKEY" not in sealed
    assert seal(SECRET) != sealed


def test_the_first_start_writes_a_key_for_its_owner_alone(folder):
    ensure_keys(folder / "new")
    assert stat.S_IMODE((folder / "new" / "secret.keys").stat().st_mode) == 0o600
    assert [path.name for path in (folder / "new").iterdir()] == ["secret.keys"]


def test_a_second_start_keeps_the_key(folder):
    ensure_keys(folder)
    sealed = seal(SECRET)
    ensure_keys(folder)
    assert open_sealed(sealed) == SECRET


def test_keys_of_the_environment_win_and_no_file_is_written(folder, monkeypatch):
    monkeypatch.setenv("OFFICE_SECRET_KEYS", Fernet.generate_key().decode())
    ensure_keys(folder)
    assert open_sealed(seal(SECRET)) == SECRET
    assert not (folder / "secret.keys").exists()


def test_after_a_rotation_old_secrets_open_and_are_resealed_under_the_new_key(folder, monkeypatch):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    monkeypatch.setenv("OFFICE_SECRET_KEYS", old)
    sealed = seal(SECRET)
    monkeypatch.setenv("OFFICE_SECRET_KEYS", f"{new}, {old}")
    moved = reseal(sealed)
    monkeypatch.setenv("OFFICE_SECRET_KEYS", new)
    assert open_sealed(moved) == SECRET


def refused(call, *given):
    with pytest.raises(SecretsUnusable) as caught:
        call(*given)
    assert "TESTKEY" not in str(caught.value)
    return caught.value.code


def test_without_a_key_nothing_is_sealed(folder):
    assert refused(seal, SECRET) == "no_sealing_key"


def test_a_malformed_key_is_named_as_such(folder, monkeypatch):
    monkeypatch.setenv("OFFICE_SECRET_KEYS", "change-me")
    assert refused(seal, SECRET) == "bad_sealing_key"


def test_another_office_s_key_opens_nothing(folder, monkeypatch):
    ensure_keys(folder)
    sealed = seal(SECRET)
    monkeypatch.setenv("OFFICE_SECRET_KEYS", Fernet.generate_key().decode())
    assert refused(open_sealed, sealed) == "cannot_unseal"


@pytest.mark.parametrize("stored", ["", SECRET, "v1:", "v1:not base64 鍵", "v2:abc"])
def test_what_was_never_sealed_is_not_taken_for_a_secret(folder, stored):
    ensure_keys(folder)
    assert refused(open_sealed, stored) == "cannot_unseal"


def test_a_damaged_seal_is_noticed(folder):
    ensure_keys(folder)
    sealed = seal(SECRET)
    assert refused(open_sealed, sealed[:-6] + "AAAAA=") == "cannot_unseal"


@pytest.mark.parametrize(("key", "shown"), [("sk-0123456789abcd", "abcd"), ("short", ""), ("", "")])
def test_the_last_four_are_shown_only_of_a_key_long_enough(key, shown):
    assert last4(key) == shown


def test_the_key_file_may_hold_several_keys(folder):
    ensure_keys(folder)
    sealed = seal(SECRET)
    path = folder / secrets.FILE_NAME
    path.write_text(f"{Fernet.generate_key().decode()}\n{path.read_text()}")
    assert open_sealed(sealed) == SECRET
