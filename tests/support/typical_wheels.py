"""One sound wheel of each kind that installers treat differently."""

import stat

from support.wheels import Wheel, WheelSource, build_wheel, executable
from support.zip_writer import Method, ZipMember

_CONTENT: dict[str, WheelSource] = {
    "plain": WheelSource(name="plain", files={"plain/__init__.py": "x = 1\n", "plain/empty.py": ""}),
    "scripts": WheelSource(
        name="scripts",
        files={"scripts.py": "def main():\n    print('ran')\n"},
        data={
            "scripts/rewritten": executable("#!python\nimport scripts\nscripts.main()\n"),
            "scripts/windowed": executable("#!pythonw -u\nimport scripts\nscripts.main()\n"),
            "scripts/shell.sh": executable("#!/bin/sh\necho shell\n"),
        },
    ),
    "entry-points": WheelSource(
        name="entry-points",
        files={"entry.py": "class Group:\n    @staticmethod\n    def main():\n        print('entered')\n"},
        metadata={
            "entry_points.txt": "[console_scripts]\nenter = entry:Group.main\nextra = entry:Group.main [more]\n"
            "[gui_scripts]\nenter-gui = entry:Group.main\n[other]\nignored = entry\n"
        },
    ),
    "data-and-headers": WheelSource(
        name="Data-Headers",
        data={
            "data/share/data_headers/table.csv": "1,2\n",
            "data/etc/data_headers.conf": "x = 1\n",
            "headers/data_headers.h": "#define X 1\n",
            "purelib/in_purelib.py": "x = 1\n",
            "platlib/in_platlib.py": "x = 2\n",
        },
    ),
    "platform": WheelSource(
        name="platform-built",
        tag="cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
        purelib=False,
        files={"built/__init__.py": "", "built/lib.so": executable("\x7fELF")},
    ),
    "path-file": WheelSource(
        name="path-file", files={"path_file.pth": "import sys\n", "path_file/__init__.py": ""}
    ),
    "namespace-a": WheelSource(name="ns.a", files={"ns/a/__init__.py": "x = 'a'\n"}),
    "namespace-b": WheelSource(name="ns.b", files={"ns/b/__init__.py": "x = 'b'\n"}),
}
"""Special for what they hold."""

_CONTAINER: dict[str, WheelSource] = {
    "modes": WheelSource(
        name="modes",
        files={
            "modes/run.sh": executable("#!/bin/sh\n"),
            "modes/private.txt": ZipMember(name="", data=b"p", mode=stat.S_IFREG | 0o600),
            "modes/setuid.txt": ZipMember(name="", data=b"s", mode=stat.S_IFREG | 0o4755),
            "modes/untyped.sh": ZipMember(name="", data=b"u", mode=0o755),
            "modes/modeless.txt": ZipMember(name="", data=b"m", mode=None),
        },
    ),
    "stored": WheelSource(
        name="stored", files={"stored.py": ZipMember(name="", data=b"x = 1\n", method=Method.STORED)}
    ),
    "streamed": WheelSource(
        name="streamed", files={"streamed.py": ZipMember(name="", data=b"x = 1\n", streamed=True)}
    ),
    "folders": WheelSource(
        name="folders",
        files={
            "folders/": ZipMember(name="", mode=stat.S_IFDIR | 0o755, method=Method.STORED),
            "folders/__init__.py": "",
        },
        unrecorded=frozenset({"folders/"}),
    ),
    "long-and-unicode-paths": WheelSource(
        name="paths",
        files={
            "paths/" + "d" * 120 + "/module.py": "x = 1\n",
            "paths/naïve-ü.txt": "ü",
            "paths/a b,c.txt": "c",
        },
    ),
}
"""Special for how the zip holds it."""


def typical_wheels() -> dict[str, Wheel]:
    """Each wheel by what is special about it."""
    return {key: build_wheel(source) for key, source in {**_CONTENT, **_CONTAINER}.items()}
