"""Where the user gets packages from: uv's settings, else pip's."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.pypi_settings import index_settings, single_index


class Home:
    """A user's configuration, apart from that of the machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {
            "HOME": str(root / "home"),
            "XDG_CONFIG_DIRS": str(root / "system"),
            "PIP_CONFIG_FILE": "/dev/null",
        }

    def write(self, path: str, text: str) -> None:
        """Put a settings file below the root."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def with_pip(self, text: str) -> None:
        """Give the user a pip.conf, and let pip's files be read."""
        self.write("home/.config/pip/pip.conf", text)
        del self.environment["PIP_CONFIG_FILE"]

    def toml(self, **variables: str) -> dict[str, Any]:
        """The settings that uv gets."""
        settings = index_settings({**self.environment, **variables}, author_first=False)
        return tomllib.loads(settings.toml)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user without any settings."""
    return Home(tmp_path)


def test_without_settings_uv_gets_none(home: Home) -> None:
    assert home.toml() == {}


def test_the_users_uv_settings_come_before_the_systems_and_lists_are_joined(home: Home) -> None:
    home.write("home/.config/uv/uv.toml", 'index-url = "https://a/simple"\nfind-links = ["/a"]\n')
    home.write("system/uv/uv.toml", 'index-url = "https://b/simple"\nfind-links = ["/b"]\n')
    assert home.toml() == {"index-url": "https://a/simple", "find-links": ["/a", "/b"]}


def test_named_indexes_keep_all_their_fields(home: Home) -> None:
    home.write(
        "home/.config/uv/uv.toml",
        '[[index]]\nname = "mine"\nurl = "https://a/sim\\"ple"\ndefault = true\n[pip]\nno-index = false\n',
    )
    assert home.toml() == {
        "index": [{"name": "mine", "url": 'https://a/sim"ple', "default": True}],
        "no-index": False,
    }


def test_what_would_choose_other_releases_is_not_taken(home: Home) -> None:
    home.write(
        "home/.config/uv/uv.toml",
        'index-url = "https://a"\nexclude-newer = "2020-01-01"\nresolution = "lowest"\n'
        'constraint-dependencies = ["x<1"]\n[pip]\nprerelease = "allow"\n',
    )
    assert home.toml() == {"index-url": "https://a"}
    kept = index_settings(
        {
            "UV_CONSTRAINT": "c",
            "UV_EXCLUDE_NEWER": "2020-01-01",
            "UV_INDEX_URL": "u",
            "UV_CACHE_DIR": "d",
            "A": "b",
        },
        author_first=False,
    )
    assert kept.environment == {"UV_INDEX_URL": "u", "UV_CACHE_DIR": "d", "A": "b"}


def test_the_named_settings_file_is_the_only_one(home: Home) -> None:
    home.write("home/.config/uv/uv.toml", 'index-url = "https://a"\n')
    home.write("other.toml", 'find-links = ["/x"]\n')
    assert home.toml(UV_CONFIG_FILE=str(home.root / "other.toml")) == {"find-links": ["/x"]}
    assert home.toml(UV_NO_CONFIG="1") == {}


def test_pips_settings_are_taken_where_uv_names_no_index(home: Home) -> None:
    home.with_pip(
        "[global]\nindex-url = https://a/simple\nextra-index-url =\n  https://b/simple\n  https://c/simple\n"
        "find-links = /wheels https://d/links\ntrusted-host = b\n[install]\nno_index = yes\n"
    )
    assert home.toml() == {
        "index-url": "https://a/simple",
        "extra-index-url": ["https://b/simple", "https://c/simple"],
        "index-strategy": "unsafe-best-match",
        "find-links": ["/wheels", "https://d/links"],
        "allow-insecure-host": ["b"],
        "no-index": True,
    }


@pytest.mark.parametrize(
    "variables", [{"UV_INDEX_URL": "https://u"}, {"UV_INDEX": "https://u"}, {"UV_FIND_LINKS": "/u"}]
)
def test_a_variable_of_uv_hides_pips_settings(home: Home, variables: dict[str, str]) -> None:
    home.with_pip("[global]\nindex-url = https://a/simple\n")
    assert home.toml(**variables) == {}


def test_variables_of_pip_win_over_its_files_and_relative_links_become_absolute(home: Home) -> None:
    home.with_pip("[global]\nindex-url = https://a/simple\n")
    found = home.toml(PIP_INDEX_URL="https://b/simple", PIP_FIND_LINKS="wheels")
    assert found == {"index-url": "https://b/simple", "find-links": [str(Path("wheels").absolute())]}


def test_the_systems_pip_settings_give_way_to_the_users(home: Home) -> None:
    home.write("system/pip/pip.conf", "[global]\nindex-url = https://system\n")
    home.with_pip("[global]\nindex-url = https://user\n")
    assert home.toml()["index-url"] == "https://user"


def test_pips_certificate_reaches_uv_unless_there_is_one(home: Home) -> None:
    certificate = {**home.environment, "PIP_CERT": "/pip.pem"}
    assert index_settings(certificate, author_first=False).environment["SSL_CERT_FILE"] == "/pip.pem"
    both = {**certificate, "SSL_CERT_FILE": "/mine.pem"}
    assert index_settings(both, author_first=False).environment["SSL_CERT_FILE"] == "/mine.pem"


def test_an_index_of_the_author_is_not_overruled(home: Home) -> None:
    environment = {**home.environment, "PIP_EXTRA_INDEX_URL": "https://b", "UV_INDEX_STRATEGY": "x"}
    settings = index_settings(environment, author_first=True)
    assert tomllib.loads(settings.toml)["index-strategy"] == "first-index"
    assert "UV_INDEX_STRATEGY" not in settings.environment


def test_a_single_index_is_asked_without_the_users_others(home: Home) -> None:
    environment = {
        **home.environment,
        "PIP_FIND_LINKS": "/x",
        "UV_CACHE_DIR": "c",
        "UV_KEYRING_PROVIDER": "k",
    }
    settings = single_index(environment, "https://only")
    assert tomllib.loads(settings.toml) == {"index-url": "https://only"}
    assert {"UV_CACHE_DIR", "UV_KEYRING_PROVIDER"} <= settings.environment.keys()


@pytest.mark.parametrize(
    ("path", "text"),
    [("home/.config/uv/uv.toml", "index-url ="), ("home/.config/pip/pip.conf", "no section")],
)
def test_settings_that_cannot_be_read_are_named(home: Home, path: str, text: str) -> None:
    home.with_pip("")
    home.write(path, text)
    with pytest.raises(LockError) as caught:
        home.toml()
    assert caught.value.where == str(home.root / path)


def named_in(home: Home, **variables: str) -> tuple[str, ...]:
    """Where the user names indexes."""
    return index_settings({**home.environment, **variables}, author_first=False).named_in


def test_where_an_index_is_named_is_known_for_uv(home: Home) -> None:
    home.write("home/.config/uv/uv.toml", 'index-url = "https://a/simple"\n')
    home.write("system/uv/uv.toml", "no-cache = true\n")
    path = str(home.root / "home/.config/uv/uv.toml")
    assert named_in(home, UV_DEFAULT_INDEX="https://b") == ("UV_DEFAULT_INDEX", path)


def test_where_an_index_is_named_is_known_for_pip(home: Home) -> None:
    home.with_pip("[global]\nindex-url = https://a/simple\n")
    path = str(home.root / "home/.config/pip/pip.conf")
    assert named_in(home, PIP_EXTRA_INDEX_URL="https://b") == ("PIP_EXTRA_INDEX_URL", path)


def test_an_index_that_does_not_answer_is_traced_to_the_setting_that_names_it(home: Home) -> None:
    named = index_settings({**home.environment, "PIP_INDEX_URL": "https://secret"}, author_first=False)
    assert "the index that you name in PIP_INDEX_URL" in named.advice
    assert "secret" not in named.advice
    assert "name none" in index_settings(home.environment, author_first=False).advice
    for authors in (
        single_index(home.environment, "https://a"),
        index_settings(home.environment, author_first=True),
    ):
        assert authors.named_in == ("environment.python.indexes",)
