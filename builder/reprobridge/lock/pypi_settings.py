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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.system.home import home_folder

_LISTS = ("index", "extra-index-url", "find-links")
_INDEX_KEYS = (*_LISTS, "index-url", "no-index")
_OTHER_KEYS = (
    *("index-strategy", "keyring-provider", "allow-insecure-host", "system-certs", "native-tls"),
    *("cache-dir", "no-cache", "offline", "concurrent-downloads"),
)
_INDEX_VARIABLES = (
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"),
)
_PIP_SECTIONS = ("global", "install")
_PIP_INDEX_KEYS = ("index-url", "extra-index-url", "find-links", "no-index")
_KEPT_VARIABLES = (
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_KEYRING"),
    *("UV_CACHE", "UV_NO_CACHE", "UV_OFFLINE", "UV_HTTP", "UV_REQUEST", "UV_CONCURRENT"),
    *("UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_INSECURE_HOST"),
)
"""Beginnings of the variables of uv that say where and how, not what."""

_AUTHORS = "environment.python.indexes"
_NONE_NAMED = (
    "whether you need an index of your own: UV_DEFAULT_INDEX, uv.toml, PIP_INDEX_URL and pip.conf name none"
)
_WITHOUT_INDEX = "`--offline` asks none, where the store has everything"

_Parsers = Sequence[tuple[Path, configparser.RawConfigParser]]
"""Each pip.conf, with its content."""


@frozen(kw_only=True)
class IndexSettings:
    """What uv is started with."""

    toml: str
    """Content of its settings file."""
    environment: Mapping[str, str]
    """Its whole environment."""
    named_in: tuple[str, ...] = ()
    """Variables and files in which the user names indexes; empty where uv's own is asked."""

    @property
    def advice(self) -> str:
        """What to do when an index can't be reached."""
        named = f"the index that you name in {', '.join(self.named_in)}" if self.named_in else _NONE_NAMED
        return f"check the network (proxy, certificates), and {named}; {_WITHOUT_INDEX}"


def index_settings(environment: Mapping[str, str], *, author_first: bool) -> IndexSettings:
    """The user's settings; `author_first` when the spec names indexes of its own."""
    documents = list(_uv_documents(environment))
    settings = _merged(found for _, found in documents)
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("UV_") or name.startswith(_KEPT_VARIABLES)
    }
    named_in = [name for name in _INDEX_VARIABLES if name in environment]
    named_in += [str(path) for path, found in documents if found.keys() & set(_INDEX_KEYS)]
    if not named_in:
        parsers = _pip_parsers(environment)
        pip = _pip(environment, parsers)
        named_in = _pip_naming(environment, parsers)
        settings |= _as_uv(pip)
        if "cert" in pip:
            kept.setdefault("SSL_CERT_FILE", pip["cert"])
    if author_first:
        named_in.insert(0, _AUTHORS)
        settings["index-strategy"] = "first-index"
        kept.pop("UV_INDEX_STRATEGY", None)
    return IndexSettings(toml=toml(settings), environment=kept, named_in=tuple(named_in))


def single_index(environment: Mapping[str, str], index: str) -> IndexSettings:
    """Only this index, reached with the user's credentials and certificates."""
    user = index_settings(environment, author_first=False)
    kept = {name: value for name, value in user.environment.items() if name not in _INDEX_VARIABLES}
    settings = {key: value for key, value in tomllib.loads(user.toml).items() if key not in _INDEX_KEYS}
    only = toml({**settings, "index-url": index})
    return IndexSettings(toml=only, environment=kept, named_in=(_AUTHORS,))


def _uv_documents(environment: Mapping[str, str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The user's and the system's uv.toml, with what stands below `pip` in it laid over the rest."""
    for path in _uv_places(environment):
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError as error:
            raise _unreadable(path, error) from error
        yield path, {**found, **found.get("pip", {})}


def _merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What uv's files say that we take; lists are joined, the user's first."""
    merged: dict[str, Any] = {}
    for found in documents:
        for key, value in found.items():
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


def _pip_parsers(environment: Mapping[str, str]) -> _Parsers:
    """The content of each pip.conf; empty for those that do not exist."""
    parsers = [(path, configparser.RawConfigParser()) for path in _pip_places(environment)]
    for path, parser in parsers:
        try:
            parser.read(path, encoding="utf-8")
        except (OSError, ValueError, configparser.Error) as error:
            raise _unreadable(path, error) from error
    return parsers


def _pip(environment: Mapping[str, str], parsers: _Parsers) -> dict[str, str]:
    """What pip is set to when it installs, later places over earlier ones, variables over all."""
    merged: dict[str, str] = {}
    for section in _PIP_SECTIONS:
        for _, parser in parsers:
            merged |= _pip_section(parser, section)
    variables = {name: value for name, value in environment.items() if name.startswith("PIP_") and value}
    return merged | {name[4:].lower().replace("_", "-"): value for name, value in variables.items()}


def _pip_section(parser: configparser.RawConfigParser, section: str) -> dict[str, str]:
    items = parser.items(section) if parser.has_section(section) else ()
    return {key.replace("_", "-"): value for key, value in items}


def _pip_naming(environment: Mapping[str, str], parsers: _Parsers) -> list[str]:
    """The variables and files in which pip is told where to look."""
    variables = [f"PIP_{key.upper().replace('-', '_')}" for key in _PIP_INDEX_KEYS]
    files = [
        str(path)
        for path, parser in parsers
        if any(_pip_section(parser, section).keys() & set(_PIP_INDEX_KEYS) for section in _PIP_SECTIONS)
    ]
    return [*(name for name in variables if environment.get(name)), *files]


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
    return home_folder(environment) or Path("/")


def _home_config(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or _home(environment) / ".config")


def _unreadable(path: Path, error: Exception) -> LockError:
    return LockError(
        "your index settings cannot be read", where=str(path), expected="valid settings", found=str(error)
    )
