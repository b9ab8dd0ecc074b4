"""Logins out of the user's configuration."""

import base64
import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.errors import RegistryError
from reprobridge.registry.configuration import UserLogins, login_files
from reprobridge.registry.credentials import IdentityToken, Login, Password

HOST = "ghcr.io"
HELPER = """#!/bin/sh
read -r host
case "$host" in
  ghcr.io) echo '{"ServerURL": "ghcr.io", "Username": "ann", "Secret": "from helper"}' ;;
  token.example) echo '{"ServerURL": "token.example", "Username": "<token>", "Secret": "idt"}' ;;
  broken.example) echo 'the secret is s3cret' ; exit 1 ;;
  *) echo 'credentials not found in native keychain' ; exit 1 ;;
esac
"""


def encoded(user: str, secret: str) -> dict[str, object]:
    return {"auth": base64.b64encode(f"{user}:{secret}".encode()).decode()}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the credential helper `reprobridge-test` on its PATH."""
    helper = tmp_path / "bin" / "docker-credential-reprobridge-test"
    helper.parent.mkdir()
    helper.write_text(HELPER)
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{helper.parent}:/usr/bin:/bin")
    return tmp_path


def login(home: Path, host: str = HOST, **variables: str) -> Login | None:
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), **variables}
    return UserLogins(environment).login(host)


def write(path: Path, configuration: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(configuration))


def test_without_configuration_nobody_is_logged_in(home: Path) -> None:
    assert login(home) is None


@pytest.mark.parametrize("key", ["ghcr.io", "https://ghcr.io", "https://ghcr.io/v1/", "ghcr.io/owner"])
def test_a_login_stands_in_dockers_file(home: Path, key: str) -> None:
    write(home / ".docker/config.json", {"auths": {key: encoded("ann", "pass:word")}})
    assert login(home) == Password("ann", "pass:word")
    assert login(home, "other.example") is None
    assert login(home, "ghcr.io:5000") is None


def test_dockers_file_may_lie_elsewhere(home: Path) -> None:
    write(home / "elsewhere/config.json", {"auths": {HOST: encoded("ann", "pw")}})
    assert login(home, DOCKER_CONFIG=str(home / "elsewhere")) == Password("ann", "pw")


def test_docker_hub_has_its_old_name_in_dockers_file(home: Path) -> None:
    write(home / ".docker/config.json", {"auths": {"https://index.docker.io/v1/": encoded("ann", "pw")}})
    assert login(home, "docker.io") == Password("ann", "pw")


def test_an_identity_token_stands_in_dockers_file(home: Path) -> None:
    write(home / ".docker/config.json", {"auths": {HOST: {**encoded("ann", ""), "identitytoken": "idt"}}})
    assert login(home) == IdentityToken("idt")


@pytest.mark.parametrize(
    "configuration",
    [
        {"credHelpers": {HOST: "reprobridge-test"}},
        {"credsStore": "reprobridge-test"},
        {"credsStore": "reprobridge-test", "auths": {HOST: {}}},
    ],
)
def test_a_helper_is_asked(home: Path, configuration: object) -> None:
    write(home / ".docker/config.json", configuration)
    assert login(home) == Password("ann", "from helper")


def test_a_helper_may_know_an_identity_token(home: Path) -> None:
    write(home / ".docker/config.json", {"credsStore": "reprobridge-test"})
    assert login(home, "token.example") == IdentityToken("idt")


def test_a_helper_that_knows_nothing_leaves_podmans_file_to_be_asked(home: Path) -> None:
    write(home / ".docker/config.json", {"credsStore": "reprobridge-test"})
    write(home / ".config/containers/auth.json", {"auths": {"other.example": encoded("bob", "pw")}})
    assert login(home, "other.example") == Password("bob", "pw")


@pytest.mark.parametrize(
    ("configuration", "host"),
    [
        ({"credHelpers": {"broken.example": "reprobridge-test"}}, "broken.example"),
        ({"credHelpers": {HOST: "not-installed"}}, HOST),
        ({"auths": {HOST: {"auth": "s3cret"}}}, HOST),
        ({"auths": {HOST: {"auth": "czNjcmV0"}}}, HOST),
        ({"auths": {HOST: "s3cret"}}, HOST),
    ],
)
def test_a_login_that_cannot_be_read_is_told_without_showing_it(
    home: Path, configuration: object, host: str
) -> None:
    path = home / ".docker/config.json"
    write(path, configuration)
    with pytest.raises(RegistryError, match=f"the logins for {host} cannot be read") as raised:
        login(home, host)
    assert raised.value.where == str(path)
    assert "s3cret" not in str(raised.value)
    assert "czNjcmV0" not in str(raised.value)


def test_a_broken_entry_of_another_registry_does_not_matter(home: Path) -> None:
    entries = {"other.example": {"auth": "*"}, HOST: encoded("ann", "pw")}
    write(home / ".docker/config.json", {"auths": entries})
    assert login(home) == Password("ann", "pw")


def test_a_file_that_is_no_json_is_told(home: Path) -> None:
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text("{s3cret")
    with pytest.raises(RegistryError, match=r"config\.json") as raised:
        login(home)
    assert "s3cret" not in str(raised.value)


def test_podmans_files_are_asked_after_dockers(home: Path) -> None:
    write(home / ".config/containers/auth.json", {"auths": {HOST: encoded("settings", "pw")}})
    assert login(home) == Password("settings", "pw")
    write(home / "run/containers/auth.json", {"auths": {HOST: encoded("runtime", "pw")}})
    assert login(home) == Password("runtime", "pw")
    write(home / ".docker/config.json", {"auths": {HOST: encoded("docker", "pw")}})
    assert login(home) == Password("docker", "pw")


def test_a_file_that_is_named_stands_alone(home: Path) -> None:
    write(home / ".docker/config.json", {"auths": {HOST: encoded("docker", "pw")}})
    write(home / "mine.json", {"auths": {"other.example": encoded("bob", "pw")}})
    assert login(home, REGISTRY_AUTH_FILE=str(home / "mine.json")) is None
    assert login(home, "other.example", REGISTRY_AUTH_FILE=str(home / "mine.json")) == Password("bob", "pw")


def test_podman_has_a_place_without_a_runtime_folder() -> None:
    files = [str(path) for path in login_files({"HOME": "/h"})]
    assert files[0] == "/h/.docker/config.json"
    assert files[1].startswith("/run/containers/")
    assert files[1].endswith("/auth.json")
    assert files[2] == "/h/.config/containers/auth.json"


@pytest.mark.parametrize("said", ["", "relative"])
def test_a_home_that_is_none_is_no_place_for_logins(said: str) -> None:
    known = pwd.getpwuid(os.getuid()).pw_dir
    assert next(login_files({"HOME": said})) == Path(known, ".docker", "config.json")


def test_the_docker_sdk_is_not_loaded_for_nothing(home: Path) -> None:
    write(home / ".docker/config.json", {"auths": {"other.example": encoded("bob", "pw")}})
    program = (
        "import sys; from reprobridge.registry.configuration import UserLogins\n"
        f"assert UserLogins({{'HOME': {str(home)!r}}}).login('ghcr.io') is None\n"
        "assert not {'docker', 'requests', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
