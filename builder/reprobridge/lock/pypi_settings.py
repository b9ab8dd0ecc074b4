"""Where the user gets Python packages from: uv's settings, or else pip's.

uv's own settings (`UV_*`, the user's and the system's uv.toml) win as a whole. Where they name no index,
pip's are taken (`PIP_*`, pip.conf in all its places), and searched as pip does: the best version of all
indexes. When the author names an index, the first index that has a package decides, so that the author's
does not lose against a newer release elsewhere.
What would change *which* release is chosen (constraints, overrides, dates, resolution modes) is not taken from
the user's settings: a lock must follow from the spec. So uv gets a settings file of ours and nothing else.
Sources: uv's reference of settings, pip's configuration guide.
"""

import configparser
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reprobridge.errors import LockError
from reprobridge.frozen import frozen

_LISTS = ("index", "extra-index-url", "find-links")
_INDEX_KEYS = (*_LISTS, "index-url", "no-index")
_OTHER_KEYS = (
    *("index-strategy", "keyring-provider", "allow-insecure-host", "system-certs", "native-tls"),
    *("cache-dir", "no-cache", "offline", "concurrent-downloads"),
)
_INDEX_VARIABLES = (
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"),
)
_KEPT_VARIABLES = (
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_KEYRING"),
    *("UV_CACHE", "UV_NO_CACHE", "UV_OFFLINE", "UV_HTTP", "UV_REQUEST", "UV_CONCURRENT"),
    *("UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_INSECURE_HOST"),
)
"""Beginnings of the variables of uv that say where and how, not what."""


@frozen(kw_only=True)
class IndexSettings:
    """What uv is started with."""

    toml: str
    """Content of its settings file."""
    environment: Mapping[str, str]
    """Its whole environment."""


def index_settings(environment: Mapping[str, str], *, author_first: bool) -> IndexSettings:
    """The user's settings; `author_first` when the spec names indexes of its own."""
    settings = _uv_files(environment)
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("UV_") or name.startswith(_KEPT_VARIABLES)
    }
    if not any(name in environment for name in _INDEX_VARIABLES) and not any(
        key in settings for key in _INDEX_KEYS
    ):
        pip = _pip(environment)
        settings |= _as_uv(pip)
        if "cert" in pip:
            kept.setdefault("SSL_CERT_FILE", pip["cert"])
    if author_first:
        settings["index-strategy"] = "first-index"
        kept.pop("UV_INDEX_STRATEGY", None)
    return IndexSettings(toml=toml(settings), environment=kept)


def single_index(environment: Mapping[str, str], index: str) -> IndexSettings:
    """Only this index, reached with the user's credentials and certificates."""
    user = index_settings(environment, author_first=False)
    kept = {name: value for name, value in user.environment.items() if name not in _INDEX_VARIABLES}
    settings = {key: value for key, value in tomllib.loads(user.toml).items() if key not in _INDEX_KEYS}
    return IndexSettings(toml=toml({**settings, "index-url": index}), environment=kept)


def _uv_files(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the user's and the system's uv.toml say that we take; lists of both are joined, the user's first."""
    merged: dict[str, Any] = {}
    for path in _uv_places(environment):
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError as error:
            raise _unreadable(path, error) from error
        for key, value in {**found, **found.get("pip", {})}.items():
            if key in _LISTS and isinstance(value, list):
                merged[key] = merged.get(key, []) + value
            elif key in (*_INDEX_KEYS, *_OTHER_KEYS):
                merged.setdefault(key, value)
    return merged


def _uv_places(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("UV_NO_CONFIG"):
        return
    if chosen := environment.get("UV_CONFIG_FILE"):
        yield Path(chosen)
        return
    yield _home_config(environment) / "uv" / "uv.toml"
    system = [Path(folder) / "uv" / "uv.toml" for folder in _config_folders(environment)]
    yield next((path for path in system if path.is_file()), Path("/etc/uv/uv.toml"))


def _pip(environment: Mapping[str, str]) -> dict[str, str]:
    """What pip is set to when it installs, later places over earlier ones, variables over all."""
    merged: dict[str, str] = {}
    parsers = [(path, configparser.RawConfigParser()) for path in _pip_places(environment)]
    for path, parser in parsers:
        try:
            parser.read(path, encoding="utf-8")
        except (OSError, ValueError, configparser.Error) as error:
            raise _unreadable(path, error) from error
    for section in ("global", "install"):
        for _, parser in parsers:
            if parser.has_section(section):
                merged |= {key.replace("_", "-"): value for key, value in parser.items(section)}
    variables = {name: value for name, value in environment.items() if name.startswith("PIP_") and value}
    return merged | {name[4:].lower().replace("_", "-"): value for name, value in variables.items()}


def _pip_places(environment: Mapping[str, str]) -> Iterator[Path]:
    chosen = environment.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    for folder in _config_folders(environment):
        yield Path(folder) / "pip" / "pip.conf"
    yield Path("/etc/pip.conf")
    yield _home(environment) / ".pip" / "pip.conf"
    yield _home_config(environment) / "pip" / "pip.conf"
    yield Path(sys.prefix) / "pip.conf"
    if chosen:
        yield Path(chosen)


def _as_uv(pip: Mapping[str, str]) -> dict[str, Any]:
    """Pip's settings in uv's words."""
    settings: dict[str, Any] = {}
    if "index-url" in pip:
        settings["index-url"] = pip["index-url"]
    if extra := pip.get("extra-index-url", "").split():
        settings |= {"extra-index-url": extra, "index-strategy": "unsafe-best-match"}
    if links := pip.get("find-links", "").split():
        settings["find-links"] = [link if "://" in link else str(Path(link).absolute()) for link in links]
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        settings["no-index"] = True
    if hosts := pip.get("trusted-host", "").split():
        settings["allow-insecure-host"] = hosts
    return settings


def toml(settings: Mapping[str, Any]) -> str:
    """A settings file for uv, with values of the kinds that its settings have."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in sorted(settings.items()))


def _toml_value(value: Any) -> str:
    match value:
        case list():
            return "[" + ", ".join(_toml_value(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{key} = {_toml_value(item)}" for key, item in value.items()) + "}"
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _config_folders(environment: Mapping[str, str]) -> list[str]:
    return [folder for folder in environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if folder]


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _home_config(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or _home(environment) / ".config")


def _unreadable(path: Path, error: Exception) -> LockError:
    return LockError(
        "your index settings cannot be read", where=str(path), expected="valid settings", found=str(error)
    )
