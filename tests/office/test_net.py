"""Which base URLs a model endpoint may have, and which addresses may lie behind one."""

import ipaddress

import pytest

from office.net import AddressRefused, check_address, check_base_url, private_endpoints

LOCAL = frozenset({"127.0.0.1:11434", "[::1]:11434", "models.lan:8000"})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("  HTTPS://API.Example.COM/v1/ ", "https://api.example.com/v1"),
        ("https://example.com:443/v1", "https://example.com/v1"),
        ("http://example.com:8000", "http://example.com:8000"),
        ("https://example.com./v1", "https://example.com/v1"),
        ("https://example.com/v1/chat/completions", "https://example.com/v1"),
        ("https://例え.jp/v1", "https://xn--r8jz45g.jp/v1"),
        ("https://[2606:4700:0::1111]/v1", "https://[2606:4700::1111]/v1"),
    ],
)
def test_a_base_url_is_kept_in_its_normal_form(given, kept):
    assert check_base_url(given) == kept


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("", "base_url_not_http"),
        ("ftp://example.com", "base_url_not_http"),
        ("file:///etc/passwd", "base_url_not_http"),
        ("gopher://example.com", "base_url_not_http"),
        ("javascript:alert(1)", "base_url_not_http"),
        ("//example.com/v1", "base_url_not_http"),
        ("https:///v1", "base_url_not_http"),
        ("https://user:secret@example.com", "base_url_with_credentials"),
        ("https://example.com@169.254.169.254/", "base_url_with_credentials"),
        ("https://example.com/v1?key=1", "base_url_with_query"),
        ("https://example.com/v1#x", "base_url_with_query"),
        ("https://example.com/v1?", "base_url_with_query"),
        ("https://exa mple.com", "base_url_malformed"),
        ("https://example.com\r\nHost: x", "base_url_malformed"),
        ("https://example.com\\@evil.com", "base_url_malformed"),
        ("https://example.com:0", "base_url_malformed"),
        ("https://example.com:99999", "base_url_malformed"),
        ("https://example..com", "base_url_malformed"),
        ("https://[fe80::1%25eth0]/", "base_url_malformed"),
        ("https://[::1", "base_url_malformed"),
        ("http://2130706433/", "base_url_odd_address"),
        ("http://0x7f000001/", "base_url_odd_address"),
        ("http://0x7f.1/", "base_url_odd_address"),
        ("http://0177.0.0.1/", "base_url_odd_address"),
        ("http://127.1/", "base_url_odd_address"),
        ("http://0/", "base_url_odd_address"),
        ("http://１２７.1/", "base_url_odd_address"),
        ("http://169.254.169.254/latest", "base_url_forbidden"),
        ("http://１６９.254.169.254/", "base_url_forbidden"),
        ("http://169。254。169。254/", "base_url_forbidden"),
        ("http://[::ffff:169.254.169.254]/", "base_url_forbidden"),
        ("http://[fe80::1]/", "base_url_forbidden"),
        ("http://[fd00:ec2::254]/", "base_url_forbidden"),
        ("http://0.0.0.0/", "base_url_forbidden"),
        ("http://127.0.0.1/", "base_url_private"),
        ("http://127.9.9.9/", "base_url_private"),
        ("http://localhost:11434/v1", "base_url_private"),
        ("http://LOCALHOST./", "base_url_private"),
        ("http://x.localhost/", "base_url_private"),
        ("http://10.0.0.5/", "base_url_private"),
        ("http://[::1]/", "base_url_private"),
    ],
)
def test_a_hostile_or_broken_base_url_is_refused(given, code):
    with pytest.raises(AddressRefused) as caught:
        check_base_url(given)
    assert (caught.value.code, caught.value.field) == (code, "base_url")


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434/v1", "http://[::1]:11434/v1"])
def test_a_private_address_is_taken_with_its_port_on_the_list(url):
    assert check_base_url(url, LOCAL) == url


def test_another_port_of_an_allowed_host_is_still_refused():
    with pytest.raises(AddressRefused, match="base_url_private"):
        check_base_url("http://127.0.0.1:22/v1", LOCAL)


ALWAYS = [
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
    "240.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
]


@pytest.mark.parametrize("address", ALWAYS)
def test_some_addresses_are_refused_whatever_the_list_says(address):
    allowed = frozenset({f"{address}:80", f"[{address}]:80", "name:80"})
    with pytest.raises(AddressRefused, match="base_url_forbidden"):
        check_address(ipaddress.ip_address(address), "name", 80, allowed)


PRIVATE = [
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "127.0.0.1",
    "::1",
    "fc00::1",
    "fec0::1",
    "198.18.0.1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_behind_a_name_needs_the_name_on_the_list(address):
    with pytest.raises(AddressRefused, match="base_url_private"):
        check_address(ipaddress.ip_address(address), "models.lan", 80, LOCAL)
    check_address(ipaddress.ip_address(address), "models.lan", 8000, LOCAL)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "104.18.6.192"])
def test_a_public_address_needs_no_list(address):
    check_address(ipaddress.ip_address(address), "example.com", 443, frozenset())


def test_the_setting_and_the_caller_s_own_pairs_are_joined(settings_pairs):
    settings_pairs.append("Models.LAN:8000")
    assert private_endpoints(["127.0.0.1:1"]) == {"models.lan:8000", "127.0.0.1:1"}


@pytest.fixture
def settings_pairs(monkeypatch):
    from django.conf import settings

    pairs: list[str] = []
    monkeypatch.setattr(settings, "OFFICE_PRIVATE_ENDPOINTS", pairs)
    return pairs
