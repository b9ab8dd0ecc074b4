"""Base systems: the templates in image-templates/ as frozen types.

A template says what an image's lowest layers are made of: Debian suites, packages, the interpreter.
Its exact packages stand in a lock of its own (`lock/template_lock.py`), so that all papers share layers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprobridge.data_files import data_folder
from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.store.store import Store

SCHEMA = "reprobridge.template/1"
"""Value of the key `schema`."""


@frozen(order=True)
class TemplateSuite:
    """A suite of an archive that packages come from."""

    archive: str
    """`debian` or `debian-security`."""
    suite: str
    """For example `bookworm-updates`."""


@frozen
class Certificate:
    """A public key whose signature on an index we trust."""

    fingerprint: str
    """Of the primary key: 40 upper-case hexadecimal digits."""
    armored: bytes
    """The OpenPGP certificate."""


@frozen(kw_only=True)
class Template:
    """A base system."""

    name: str
    """What a spec calls it: the file's name without ending."""
    title: str
    """One line for people."""
    suites: tuple[TemplateSuite, ...]
    """Where packages come from."""
    components: tuple[str, ...]
    """Of each suite, for example `main`."""
    packages: tuple[str, ...]
    """Wanted besides the essential ones, sorted."""
    python: str
    """Minor version of the interpreter, for example `3.11`."""
    interpreter: str
    """Its path in the image."""
    glibc: str
    """Version of the C library, which decides which wheels fit."""
    architectures: Mapping[str, str]
    """Image platform (`linux/amd64`) -> Debian architecture (`amd64`)."""
    keyring: tuple[Certificate, ...]
    """Keys that may sign the suites' indexes."""

    def architecture(self, platform: str) -> str:
        """The Debian architecture of an image platform. Raises LockError when the template has none."""
        if platform not in self.architectures:
            raise LockError(
                f"template {self.name} is not made for {platform}",
                where="environment.platforms",
                expected=" or ".join(sorted(self.architectures)),
                found=platform,
            )
        return self.architectures[platform]

    def wish(self) -> Digest:
        """Digest of what decides the template's packages."""
        suites = [[suite.archive, suite.suite] for suite in self.suites]
        return digest_json(
            {
                "suites": suites,
                "components": self.components,
                "packages": self.packages,
                "architectures": dict(self.architectures),
            }
        )


def template_names() -> list[str]:
    """The names of all templates that came with this release, sorted."""
    return sorted(path.stem for path in data_folder("image-templates").glob("*.yaml") if _is_template(path))


def load_template(name: str, memory: Store | None = None) -> Template:
    """The template of that name. Raises LockError when there is none or its file is wrong.

    `memory` keeps what the file says for the next time, so that YAML is not parsed again.
    """
    names = template_names()
    if name not in names:
        import difflib

        near = difflib.get_close_matches(name, names, n=1)
        raise LockError(
            "there is no such template",
            where="environment.template",
            expected=" or ".join(names),
            found=name,
            hint=f"did you mean {near[0]}?" if near else None,
        )
    return read_template(data_folder("image-templates") / f"{name}.yaml", memory)


def read_template(path: Path, memory: Store | None = None) -> Template:
    """The template in a file; its keyring lies in `keyrings` beside it. Raises LockError."""
    try:
        return _template(path, _content(path.read_bytes(), memory))
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        raise LockError(
            "the template cannot be used", where=str(path), expected=SCHEMA, found=f"{error!r}"
        ) from error


def _content(data: bytes, memory: Store | None) -> Any:
    """What a YAML file says. Raises ValueError when it is no YAML."""
    key = Digest.of(data)
    if memory is not None and isinstance(known := memory.result("template", key), dict):
        return known
    import yaml

    try:
        content = yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    if memory is not None:
        memory.remember("template", key, content)
    return content


def _is_template(path: Path) -> bool:
    return f"schema: {SCHEMA}" in path.read_text("utf-8")


def _template(path: Path, data: Any) -> Template:
    if data["schema"] != SCHEMA:
        raise KeyError("schema")
    return Template(
        name=path.stem,
        title=data["title"],
        suites=tuple(TemplateSuite(row["archive"], row["suite"]) for row in data["suites"]),
        components=tuple(data["components"]),
        packages=tuple(sorted(data["packages"])),
        python=data["python"]["version"],
        interpreter=data["python"]["interpreter"],
        glibc=data["glibc"],
        architectures=dict(data["architectures"]),
        keyring=tuple(
            Certificate(fingerprint, (path.parent / "keyrings" / file).read_bytes())
            for file, fingerprint in sorted(data["keyring"].items())
        ),
    )
