"""Sdists at addresses whose digest nobody has said."""

from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.lock.sdist.source import bring_wish
from reprobridge.spec.requirement_source import SourceWish
from support.file_server import FileServer, said_length
from support.lock_doors import doors, impatient
from support.sdists import build_sdist

PATH = "/ours-1.0.tar.gz"


def test_an_sdist_is_locked_with_the_digest_and_size_that_it_has(
    store_folder: Path, file_server: FileServer
) -> None:
    data = build_sdist("ours", files={}).data
    wish = SourceWish(place="requirements.in", kind="archive", origin=file_server.put(PATH, data))
    source = bring_wish(wish, Path(), doors(store_folder, network=impatient())).source
    assert source.file is not None
    assert (source.file.sha256, source.file.size) == (Digest.of(data), len(data))


def test_an_sdist_that_a_wrong_length_cuts_off_is_refused(
    store_folder: Path, file_server: FileServer
) -> None:
    data = build_sdist("ours", files={}).data
    wish = SourceWish(place="requirements.in", kind="archive", origin=file_server.put(PATH, data))
    file_server.fail(PATH, said_length(len(data) // 2))
    with pytest.raises(ArtifactError, match=r"ours-1\.0\.tar\.gz"):
        bring_wish(wish, Path(), doors(store_folder, network=impatient()))
