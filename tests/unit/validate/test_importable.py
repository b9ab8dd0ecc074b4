"""Importable names among the files of packages."""

import pytest

from reprobridge.validate.checks.importable import importable


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/__init__.py", "a/b.py", "a/c/__init__.py"], ["a"]),
        (["six.py"], ["six"]),
        (["_cffi.cpython-311-x86_64-linux-gnu.so", "x.abi3.so", "y.so"], ["_cffi", "x", "y"]),
        (["google/protobuf/__init__.py", "google/_upb/_message.abi3.so"], ["google._upb._message", "google.protobuf"]),
        (["jaraco/context.py"], ["jaraco.context"]),
        (["a-stubs/__init__.pyi", "1x.py", "class.py", "a.b/c.py", "a.pth"], []),
        (["numpy.libs/libopenblas64_p.so", "nvidia/nvtx/lib/libnvToolsExt.so.1"], []),
        (["docs/conf.py", "tests/test_x.py", "setup.py", "conftest.py", "real.py"], ["real"]),
        (["tests/__init__.py", "tests/test_x.py"], ["tests"]),
        (["ns/a/__init__.py", "ns/__init__.py"], ["ns"]),
    ],
)  # fmt: skip
def test_importable_names_are_the_topmost_that_are_meant(paths: list[str], names: list[str]) -> None:
    assert importable(paths) == tuple(names)
