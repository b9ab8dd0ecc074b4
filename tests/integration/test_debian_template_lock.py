"""Locking a template against the real archive: signatures, indexes and resolution of every platform."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.lock.debian.mirrors import read_settings
from reprobridge.lock.template import load_template
from reprobridge.lock.template_lock import parse_template_lock
from support.require import unavailable

pytestmark = [pytest.mark.slow, pytest.mark.network]

NAME = "debian13-py313"


def test_a_template_is_locked_on_all_its_platforms(tmp_path: Path) -> None:
    if not read_settings(os.environ).mirrors.get("debian"):
        unavailable("this machine has no Debian mirror in its apt sources or in REPROBRIDGE_DEBIAN_MIRROR")
    options = ["--quiet", "--store", str(tmp_path / "store"), "--into", str(tmp_path)]
    command = [sys.executable, "-m", "reprobridge", "template", "lock", NAME, *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / NAME}.lock.json\n"
    lock = parse_template_lock((tmp_path / f"{NAME}.lock.json").read_bytes())
    template = load_template(NAME)
    assert lock.wish == template.wish()
    amd64, arm64 = (
        {deb.name for deb in lock.base(platform).debs} for platform in ("linux/amd64", "linux/arm64")
    )
    assert set(template.packages) <= amd64
    assert amd64 == arm64
