"""Connections go to checked addresses only, keep the name for TLS, and follow nobody elsewhere."""

import asyncio
import datetime
import ipaddress
import ssl

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from office import connections
from office.llm import ModelError, stream
from office.net import AddressRefused
from office.transport import guarded_client
from tests.fakes import Answer, page


def resolver(*answers):
    """A name server that gives each answer once and the last one for ever; keeps what it was asked."""
    left = list(answers)

    async def resolve(host, port):
        resolve.asked.append((host, port))
        return left.pop(0) if len(left) > 1 else left[0]

    resolve.asked = []
    return resolve


async def get(client, url):
    async with client:
        return await client.get(url)


async def test_a_name_is_resolved_once_and_its_checked_address_is_used(server):
    names = resolver(["127.0.0.1"], ["169.254.169.254"])
    client = guarded_client({f"models.lan:{server.port}"}, resolver=names)
    answer = await get(client, f"http://models.lan:{server.port}/v1/models")
    assert answer.status_code == 200
    assert server.requests[0].headers["host"] == f"models.lan:{server.port}"
    assert names.asked == [("models.lan", server.port)]


async def test_a_name_that_changes_its_address_between_check_and_connection_gains_nothing(server, monkeypatch):
    names = resolver(["93.184.216.34"], ["127.0.0.1"])
    opened = []

    async def one(self, address, *place):
        opened.append(address)
        raise ConnectionRefusedError

    client = guarded_client(resolver=names)
    monkeypatch.setattr(connections.Opener, "_one", one)
    with pytest.raises(httpx2.ConnectError):
        await get(client, f"http://rebind.example:{server.port}/")
    assert opened == ["93.184.216.34"]
    assert server.requests == []


@pytest.mark.parametrize("hidden", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::ffff:127.0.0.1"])
async def test_one_bad_address_among_good_ones_refuses_the_name(server, hidden):
    client = guarded_client(resolver=resolver(["93.184.216.34", hidden]))
    with pytest.raises(AddressRefused):
        await get(client, f"http://mixed.example:{server.port}/")
    assert server.requests == []


async def test_a_link_local_address_with_a_zone_is_refused():
    with pytest.raises(AddressRefused, match="base_url_forbidden"):
        await get(guarded_client(resolver=resolver(["fe80::1%eth0"])), "http://zone.example/")


async def test_the_next_address_is_tried_when_the_first_does_not_answer(server):
    pair = f"models.lan:{server.port}"
    client = guarded_client({pair}, resolver=resolver(["::1", "127.0.0.1"]))
    assert (await get(client, f"http://{pair}/v1/models")).status_code == 200


async def test_a_redirect_is_not_followed(server, ask):
    server.queue(Answer(status=307, headers={"location": f"{server.origin}/elsewhere"}))
    with pytest.raises(ModelError, match="not_a_model_server"):
        _ = [piece async for piece in stream(ask())]
    assert len(server.requests) == 1


async def test_proxies_of_the_environment_are_ignored(server, ask, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert [piece async for piece in stream(ask())]


async def test_a_refusal_s_body_is_read_no_further_than_needed(server, ask):
    server.queue(page("x" * 5_000_000, status=500))
    with pytest.raises(ModelError, match="server_error"):
        _ = [piece async for piece in stream(ask())]


@pytest.fixture
def certificate(tmp_path):
    """A certificate for models.test alone, its own issuer; as (server context, client context)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "models.test")])
    today = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("models.test")]), False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = tmp_path / "models.pem"
    path.write_bytes(key.private_bytes(*form) + made.public_bytes(serialization.Encoding.PEM))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(path)
    return serving, ssl.create_default_context(cadata=made.public_bytes(serialization.Encoding.PEM).decode())


@pytest.mark.parametrize(("name", "passes"), [("models.test", True), ("other.test", False)])
async def test_tls_is_checked_against_the_name_and_not_the_address(certificate, name, passes):
    serving, roots = certificate

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving) as listening:
        port = listening.sockets[0].getsockname()[1]
        client = guarded_client({f"{name}:{port}"}, resolver=resolver(["127.0.0.1"]), roots=roots)
        if passes:
            assert (await get(client, f"https://{name}:{port}/")).text == "ok"
        else:
            with pytest.raises(httpx2.ConnectError):
                await get(client, f"https://{name}:{port}/")


def test_the_addresses_of_a_name_come_from_the_system_as_plain_text():
    found = asyncio.run(connections.resolve("127.0.0.1", 80))
    assert [ipaddress.ip_address(text) for text in found] == [ipaddress.ip_address("127.0.0.1")]
