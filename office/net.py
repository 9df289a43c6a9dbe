"""Guards the way out: which base URLs a model endpoint may have, and which addresses lie behind them.

The checks here are pure; `office/connections.py` applies them to each address it connects to.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from office.errors import Refused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Reachable by no link-local range, but answering with a machine's credentials all the same.
METADATA = {
    ipaddress.ip_address(text)
    for text in ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
}
# IPv4 written inside IPv6: no honest name needs it, and it slips past checks made for the other family.
EMBEDDED = tuple(
    ipaddress.ip_network(text)
    for text in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)
LOOPBACK_6 = ipaddress.ip_address("::1")
ENDPOINT_PATH = re.compile(r"(/chat)?/(completions|models)$")


class AddressRefused(Refused):
    """A base URL or an address behind it is not one the office may connect to."""

    def __init__(self, code: str, **detail: Any) -> None:
        super().__init__(code, status=422, field="base_url", **detail)


def private_endpoints(extra: Iterable[str] = ()) -> frozenset[str]:
    """`host:port` pairs on private addresses that may be reached: the setting's and the caller's own."""
    from django.conf import settings

    named = settings.OFFICE_PRIVATE_ENDPOINTS
    return frozenset(pair.strip().lower() for pair in (*named, *extra) if pair.strip())


def check_base_url(url: str, allowed: Iterable[str] = ()) -> str:
    """The URL in its normal form (no closing slash, lower-case host), or `AddressRefused`.

    An address written out is checked here; a name is checked when it is connected to.
    """
    parts = _split(url)
    host, port = _host(parts), _port(parts)
    address = _literal(host)
    if address or host == "localhost" or host.endswith(".localhost"):
        check_address(address or ipaddress.ip_address("127.0.0.1"), host, port, private_endpoints(allowed))
    written = f"[{host}]" if ":" in host else host
    default = 443 if parts.scheme.lower() == "https" else 80
    path = ENDPOINT_PATH.sub("", parts.path.rstrip("/"))
    return f"{parts.scheme.lower()}://{written}{'' if port == default else f':{port}'}{path}"


def _split(url: str) -> SplitResult:
    text = url.strip()
    if re.search(r"[\s\\\x00-\x1f\x7f]", text):
        raise AddressRefused("base_url_malformed")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise AddressRefused("base_url_malformed") from None
    if parts.scheme.lower() not in {"http", "https"} or not parts.netloc:
        raise AddressRefused("base_url_not_http")
    if "@" in parts.netloc:
        raise AddressRefused("base_url_with_credentials")
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        raise AddressRefused("base_url_with_query")
    return parts


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        raise AddressRefused("base_url_malformed") from None
    if port == 0:
        raise AddressRefused("base_url_malformed")
    return port or (443 if parts.scheme.lower() == "https" else 80)


def _host(parts: SplitResult) -> str:
    name = unicodedata.normalize("NFKC", parts.hostname or "").rstrip(".")
    if ":" in name:
        return _canonical_v6(name)
    try:
        host = name.encode("idna").decode().lower().rstrip(".")
    except UnicodeError:
        raise AddressRefused("base_url_malformed") from None
    if not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", host) or ".." in host:
        raise AddressRefused("base_url_malformed")
    # 2130706433, 0x7f.1, 0177.0.0.1 and 127.1 are all loopback to some resolvers: one spelling only.
    last = host.rsplit(".", 1)[-1]
    if (last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last)) and not _is_plain_v4(host):
        raise AddressRefused("base_url_odd_address")
    return host


def _canonical_v6(name: str) -> str:
    try:
        if "%" in name:
            raise ValueError
        return str(ipaddress.IPv6Address(name))
    except ValueError:
        raise AddressRefused("base_url_malformed") from None


def _is_plain_v4(host: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(host)) == host
    except ValueError:
        return False


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def check_address(address: Address, host: str, port: int, allowed: frozenset[str]) -> None:
    """Raises `AddressRefused` unless `address`, reached as `host`, may be connected to.

    Metadata, link-local, multicast, unspecified and embedded addresses are refused whatever the allow
    list says; private and loopback ones need their `host:port` on it.
    """
    embedded = address.version == 6 and any(address in network for network in EMBEDDED if address != LOOPBACK_6)
    never = address.is_link_local or address.is_multicast or address.is_unspecified or address in METADATA
    future = address.version == 4 and address.is_reserved
    if never or embedded or future:
        raise AddressRefused("base_url_forbidden", host=host)
    if address.is_global and not getattr(address, "is_site_local", False):
        return
    written = f"[{host}]" if ":" in host else host
    if f"{written}:{port}" not in allowed and f"{host}:{port}" not in allowed:
        raise AddressRefused("base_url_private", host=host, port=port)
