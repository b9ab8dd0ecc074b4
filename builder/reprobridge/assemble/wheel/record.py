"""RECORD: the list of an installed package's files, read from the wheel and written anew.

A wheel's own RECORD that disagrees with its files is a warning (it happens in the wild, pytorch#2596): the
wheel's digest in the lock is the authority. Rows are relative to site-packages.
Source: recording installed projects, binary distribution format.
"""

import hashlib
import io
from binascii import b2a_base64
from collections.abc import Collection, Iterable, Iterator, Mapping
from posixpath import relpath
from typing import NamedTuple

UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of the dist-info folder that RECORD cannot have a hash of."""


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


class Recorded(NamedTuple):
    """A file as RECORD has it."""

    digest: str
    """`sha256=` and the digest in URL-safe base64 without padding."""
    size: int
    """Bytes."""

    @classmethod
    def of_digest(cls, sha256: str, size: int) -> "Recorded":
        """A file of which the digest (64 hexadecimal digits) is known."""
        encoded = b2a_base64(bytes.fromhex(sha256), newline=False).translate(_URL_SAFE, b"=")
        return cls("sha256=" + encoded.decode(), size)

    @classmethod
    def of(cls, data: bytes) -> "Recorded":
        """These bytes."""
        return cls.of_digest(hashlib.sha256(data).hexdigest(), len(data))


def write_record(files: Mapping[str, Recorded], *, site: str, record: str) -> bytes:
    """RECORD of these files by image path; `site` is site-packages and `record` RECORD's own path."""
    folder = record.rpartition("/")[0]
    unhashed = {f"{folder}/{name}" for name in UNHASHED}
    rows = [
        (_relative(path, site), *(("", "") if path in unhashed else (file.digest, str(file.size))))
        for path, file in files.items()
    ]
    rows.append((_relative(record, site), "", ""))
    return "".join(f"{_quoted(path)},{digest},{size}\n" for path, digest, size in sorted(rows)).encode()


def disagreements(
    record: bytes, files: Mapping[str, Recorded], *, names: Collection[str], folder: str
) -> Iterator[str]:
    """One line for each row of a wheel's RECORD that is not what the archive holds.

    `files` are the members that were read and `names` all that there are, by archive path; `folder` is dist-info.
    """
    unhashed = {f"{folder}/{name}" for name in UNHASHED}
    rows = {row[0]: row for row in _rows(record) if row}
    for path in sorted(set(names) - rows.keys() - unhashed):
        yield f"{path}: not in RECORD"
    for path, row in sorted(rows.items()):
        if path not in names:
            yield f"{path}: in RECORD, but not in the wheel"
        elif path in files and path not in unhashed and (problem := _disagreement(row, files[path])):
            yield f"{path}: {problem}"


def _rows(record: bytes) -> Iterable[list[str]]:
    text = record.decode(errors="replace")
    if '"' not in text and "\r" not in text:
        return [line.split(",") for line in text.split("\n") if line]
    import csv

    try:
        return list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return []


def _disagreement(row: list[str], file: Recorded) -> str | None:
    if row[1:] == [file.digest, str(file.size)]:
        return None
    _, claim, size, *_ = [*row, "", ""]
    algorithm = claim.partition("=")[0]
    if size and size != str(file.size):
        return f"{file.size} bytes, RECORD says {size}"
    if algorithm == "sha256":
        return None if claim.rstrip("=") == file.digest else "RECORD has another hash"
    return f"RECORD's hash cannot be checked ({algorithm or 'none'})"


def _quoted(path: str) -> str:
    """A path as a field of CSV; not by the csv module, which quotes differently from Python 3.13 on."""
    return '"' + path.replace('"', '""') + '"' if "," in path or '"' in path else path


def _relative(path: str, site: str) -> str:
    return path[len(site) + 1 :] if path.startswith(f"{site}/") else relpath(path, site)
