"""The Python that packages are locked for: never the one that we run on."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from reprobridge.digest import Json
from reprobridge.errors import LockError
from reprobridge.frozen import frozen

if TYPE_CHECKING:
    from packaging.tags import Tag

_UV_GLIBC = (17, 28, *range(31, 41))
"""Minor versions of glibc 2 that uv resolves for; a newer one means its newest."""
_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_OLDEST_GLIBC = {"x86_64": 5, "aarch64": 17}


@frozen(kw_only=True)
class PythonTarget:
    """An interpreter of an image: CPython on glibc Linux."""

    version: str
    """Minor version, for example `3.11`."""
    architecture: str
    """`x86_64` or `aarch64`."""
    glibc: tuple[int, int]
    """Version of the C library, for example (2, 36)."""
    interpreter: str
    """Its path in the image."""

    @property
    def title(self) -> str:
        """For people."""
        return f"CPython {self.version} on {self.architecture} with glibc {self.glibc[0]}.{self.glibc[1]}"

    def to_json(self) -> Json:
        """For digests."""
        return [self.version, self.architecture, list(self.glibc), self.interpreter]

    def uv_platform(self) -> str:
        """What uv calls the platform. Raises LockError for one that no wheels are made for."""
        major, minor = self.glibc
        known = [each for each in _UV_GLIBC if each <= minor]
        if self.architecture not in _OLDEST_GLIBC or major != 2 or not known:
            raise LockError(
                "no Python packages can be locked for this platform",
                expected=f"{' or '.join(_OLDEST_GLIBC)} with glibc 2.17 or later",
                found=f"{self.architecture} with glibc {major}.{minor}",
            )
        return f"{self.architecture}-manylinux_2_{known[-1]}"

    def tags(self) -> list["Tag"]:
        """Tags of the wheels that fit, best first."""
        from packaging.tags import compatible_tags, cpython_tags

        version = tuple(int(part) for part in self.version.split("."))
        interpreter = f"cp{version[0]}{version[1]}"
        platforms = list(self._platforms())
        specific = cpython_tags(python_version=version, abis=[interpreter], platforms=platforms)
        generic = compatible_tags(python_version=version, interpreter=interpreter, platforms=platforms)
        return [*specific, *generic]

    def markers(self) -> Mapping[str, str]:
        """Values of environment markers, patch level 0 as uv assumes it too."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.version}.0",
            "os_name": "posix",
            "platform_machine": self.architecture,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": f"{self.version}.0",
            "python_version": self.version,
            "sys_platform": "linux",
        }

    def _platforms(self) -> Iterator[str]:
        for minor in range(self.glibc[1], _OLDEST_GLIBC[self.architecture] - 1, -1):
            yield f"manylinux_2_{minor}_{self.architecture}"
            if minor in _LEGACY:
                yield f"{_LEGACY[minor]}_{self.architecture}"
        yield f"linux_{self.architecture}"
