"""Where a registry may send us."""

import pytest

from reprobridge.errors import RegistryError
from reprobridge.registry.addresses import Addresses, with_query

FAR, NEAR = Addresses("ghcr.io", insecure=False), Addresses("localhost:5000", insecure=False)
PLAIN = Addresses("far.example:5000", insecure=True)


def test_plain_http_is_for_this_machine_or_on_request() -> None:
    assert FAR.of("a/b", "manifests", "1") == "https://ghcr.io/v2/a/b/manifests/1"
    assert NEAR.of("a", "tags", "list", n="9") == "http://localhost:5000/v2/a/tags/list?n=9"
    assert PLAIN.of("a", "blobs", "uploads", "") == "http://far.example:5000/v2/a/blobs/uploads/"
    assert Addresses("127.0.0.1.evil.org", insecure=False).of("a").startswith("https:")


def test_docker_hub_answers_under_another_name() -> None:
    assert (
        Addresses("docker.io", insecure=False).of("library/x") == "https://registry-1.docker.io/v2/library/x"
    )


@pytest.mark.parametrize(
    ("named", "url"),
    [
        ("/v2/a/uploads/1?_state=x%3D", "https://ghcr.io/v2/a/uploads/1?_state=x%3D"),
        ("2?x", "https://ghcr.io/v2/a/2?x"),
        ("https://other.example/blob?sig=1", "https://other.example/blob?sig=1"),
        ("//other.example/blob", "https://other.example/blob"),
    ],
)
def test_an_address_may_be_relative_or_absolute(named: str, url: str) -> None:
    assert FAR.follow("https://ghcr.io/v2/a/1", named) == url


@pytest.mark.parametrize(
    "named",
    [
        "http://ghcr.io/v2/a/1",
        "http://localhost/v2/",
        "http://127.0.0.1:5000/",
        "ftp://ghcr.io/x",
        "file:///etc/passwd",
        "https://user:secret@ghcr.io/v2/",
        "https://[broken/",
    ],
)
def test_https_is_never_left(named: str) -> None:
    with pytest.raises(RegistryError, match="an address that we do not go to") as raised:
        FAR.follow("https://ghcr.io/v2/a/1", named)
    assert "secret" not in str(raised.value)


def test_plain_http_does_not_lead_to_another_machine_unless_asked_for() -> None:
    current = "http://localhost:5000/v2/"
    assert NEAR.follow(current, "http://127.0.0.1:6000/x") == "http://127.0.0.1:6000/x"
    assert NEAR.follow(current, "https://far.example/x") == "https://far.example/x"
    with pytest.raises(RegistryError, match="reached by http or better"):
        NEAR.follow(current, "http://far.example/x")
    assert PLAIN.follow("http://far.example:5000/", "http://else.example/x") == "http://else.example/x"


def test_a_login_goes_by_plain_http_to_the_registrys_own_host_or_this_machine_alone() -> None:
    assert PLAIN.realm("http://far.example:6000/token") == "http://far.example:6000/token"
    assert PLAIN.realm("http://localhost/token") == "http://localhost/token"
    assert PLAIN.realm("https://auth.example/token") == "https://auth.example/token"
    with pytest.raises(RegistryError, match="without encryption"):
        PLAIN.realm("http://else.example/token")


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://ghcr.io/token", True),
        ("https://GHCR.io/v2/", True),
        ("https://ghcr.io:444/v2/", False),
        ("http://ghcr.io/v2/", False),
        ("https://ghcr.io.evil.org/", False),
        ("https://storage.ghcr.io/", False),
    ],
)
def test_only_the_registry_itself_sees_credentials(url: str, own: bool) -> None:
    assert FAR.is_own(url) is own


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h/u", "http://h/u?digest=sha256:1"),
        ("http://h/u?_state=a%3D%3D", "http://h/u?_state=a%3D%3D&digest=sha256:1"),
        ("http://h/u?", "http://h/u?digest=sha256:1"),
        ("http://h/u#f", "http://h/u?digest=sha256:1#f"),
    ],
)
def test_a_parameter_is_added_without_touching_the_others(url: str, expected: str) -> None:
    assert with_query(url, [("digest", "sha256:1")]) == expected
