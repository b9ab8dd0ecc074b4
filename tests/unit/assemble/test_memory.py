"""Memory does not grow with what is converted: a process that may hold less than a file makes a layer of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.wheels import WheelSource, build_wheel
from support.zip_writer import Method, ZipMember

BIG = 80 << 20
"""Bytes of the file."""
MEMORY = 64 << 20
"""Bytes that the process may have for data; twice what it takes."""

CONVERTING = """
import resource, sys
from pathlib import Path
from reprobridge.assemble.workshop import Workshop
from reprobridge.lock.model import LockedFile
from reprobridge.plan.model import LayerPlan, WheelRecipe
from reprobridge.store.store import Store

root, path, memory = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
store = Store(root)
with path.open("rb") as stream:
    wheel = LockedFile(path.name, store.add_stream(stream), path.stat().st_size)
recipe = WheelRecipe(wheel=wheel, python="3.11")
print(Workshop(store).make_layer(LayerPlan(title="big", parts=(recipe,))).tar_size)
"""


@pytest.mark.parametrize("method", [Method.STORED, Method.DEFLATED], ids=lambda method: method.name.lower())
def test_a_file_of_a_wheel_may_be_bigger_than_memory(method: Method, tmp_path: Path) -> None:
    member = ZipMember(name="", data=bytes(BIG), method=method)
    wheel = build_wheel(WheelSource(name="big", files={"big.bin": member})).write(tmp_path)
    argv = [sys.executable, "-c", CONVERTING, str(tmp_path / "store"), str(wheel), str(MEMORY)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > BIG
