"""Wheels that a reader must refuse, by what is wrong with them, and some that it must only warn about."""

import stat

from support.wheels import Wheel, WheelSource, build_wheel
from support.zip_writer import Method, ZipMember

_FILES = {"bad/__init__.py": "x = 1\n"}


def hostile_wheels() -> dict[str, Wheel]:
    """Each breaks one rule of a wheel reader; its name and its digest are as good as any."""
    wheels = {key: _with(member) for key, member in _hostile_members().items()}
    sound = build_wheel(WheelSource(name="bad", files=_FILES))
    wheels["not a zip"] = _replaced(sound, b"not a zip at all")
    wheels["cut off"] = _replaced(sound, sound.data[:-30])
    wheels["empty"] = _replaced(sound, b"")
    return wheels


def dubious_wheels() -> dict[str, Wheel]:
    """Wheels as they are met in the wild: RECORD doesn't agree with the files (a warning, not an error)."""
    wrong = {"bad/__init__.py": "sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,6"}
    missing = frozenset({"bad/__init__.py"})
    return {
        "wrong hash in RECORD": build_wheel(WheelSource(name="bad", files=_FILES, record=wrong)),
        "file missing from RECORD": build_wheel(WheelSource(name="bad", files=_FILES, unrecorded=missing)),
    }


def _hostile_members() -> dict[str, ZipMember]:
    data = b"y = 2\n"
    return {
        "encrypted member": ZipMember(name="bad/x.py", data=data, encrypted=True),
        "bzip2 member": ZipMember(name="bad/x.py", data=data, method=Method.BZIP2),
        "lzma member": ZipMember(name="bad/x.py", data=data, method=Method.LZMA),
        "duplicate name": ZipMember(name="bad/__init__.py", data=data),
        "absolute path": ZipMember(name="/etc/passwd", data=data),
        "parent path": ZipMember(name="../../etc/passwd", data=data),
        "parent path inside": ZipMember(name="bad/../../x.py", data=data),
        "dot path": ZipMember(name="bad/./x.py", data=data),
        "empty component": ZipMember(name="bad//x.py", data=data),
        "backslash": ZipMember(name="bad\\x.py", data=data),
        "NUL in name": ZipMember(name="bad/x.py\0.txt", data=data),
        "newline in name": ZipMember(name="bad/x\n.py", data=data),
        "empty name": ZipMember(name="", data=data),
        "name that is not UTF-8": ZipMember(name=b"bad/\xff.py", data=data),
        "whiteout": ZipMember(name="bad/.wh.__init__.py", data=data),
        "opaque whiteout": ZipMember(name="bad/.wh..wh..opq", data=data),
        "data path that leaves the prefix": ZipMember(name="bad-1.0.data/data/../../x", data=data),
        "unknown data scheme": ZipMember(name="bad-1.0.data/surprise/x", data=data),
        "file and folder of one name": ZipMember(name="bad/__init__.py/x.py", data=data),
        "symlink": ZipMember(name="bad/link", data=b"/etc/passwd", mode=stat.S_IFLNK | 0o777),
        "device": ZipMember(name="bad/device", mode=stat.S_IFCHR | 0o666),
        "wrong CRC": ZipMember(name="bad/x.py", data=data, crc=0xDEADBEEF),
        "size too small": ZipMember(name="bad/x.py", data=data, size=2),
        "size too large": ZipMember(name="bad/x.py", data=data, size=2000),
        "stream cut off": ZipMember(name="bad/x.py", data=data, packed=b"\x4b"),
        "garbage for a stream": ZipMember(name="bad/x.py", data=data, packed=b"\xff\xff\xff\xff"),
        "bytes behind the stream": ZipMember(name="bad/x.py", data=data, packed=b"\x03\x00junk"),
        "other name in the local header": ZipMember(name="bad/x.py", local_name="bad/y.py", data=data),
    }


def _with(member: ZipMember) -> Wheel:
    return build_wheel(WheelSource(name="bad", files=_FILES, appended=(member,)))


def _replaced(wheel: Wheel, data: bytes) -> Wheel:
    return Wheel(filename=wheel.filename, data=data, metadata=wheel.metadata)
