"""What nobody means to publish: passwords, tokens and private keys, known by a file's name or by their form.

The forms are those that the issuers document, with exact lengths and boundaries where they have them: a false alarm
keeps a paper from being published. What a form is named here, never the secret itself, is shown to people.
Sources: the issuers' documentation, GitHub's list of secret scanning patterns, the rules of gitleaks.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from reprobridge.digest import Digest
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.tree import read_tree
from reprobridge.oci.tar import EntryKind
from reprobridge.store.store import Store

SEARCHED = 8 << 20
"""Bytes of a file that are searched in an image."""
GLANCED = 1 << 20
"""Bytes of a file that are searched when locking, which shall cost no more than a glance."""
SECRET_FILES = frozenset(
    {
        ".netrc",
        "_netrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        ".htpasswd",
        ".cdsapirc",
        "kaggle.json",
        ".env",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ecdsa_sk",
        "id_ed25519",
        "id_ed25519_sk",
    }
)
"""Names of files that hold passwords or keys."""
SECRET_PATHS = (".aws/credentials", ".docker/config.json", ".config/gh/hosts.yml", ".kube/config")
"""Ends of paths of such files."""
EXAMPLES = (".example", ".sample", ".template", ".dist")
"""Ends of names of files that only show what such a file looks like."""


class _Form(NamedTuple):
    what: str
    """For people."""
    needed: tuple[bytes, ...]
    """One of these is in every match: looking for them first takes a twentieth of the time."""
    pattern: re.Pattern[bytes]


_MIXED = rb"(?=[A-Za-z0-9]*[0-9])(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])"
"""Ahead stands what chance makes of letters and digits: no word, no number, no digest in hexadecimal digits."""

_FORMS = (
    _Form(
        "a private key",
        (b"PRIVATE KEY", b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1"),
        re.compile(
            rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
            rb"|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
            rb"|^PuTTY-User-Key-File-[0-9]: \S"
            rb"|\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b",
            re.MULTILINE,
        ),
    ),
    _Form(
        "an AWS access key",
        (b"AKIA", b"ASIA"),
        # Amazon's own example is no secret.
        re.compile(rb"\b(?:AKIA|ASIA)(?![0-9A-Z]{9}EXAMPLE)[0-9A-Z]{16}\b"),
    ),
    _Form(
        "an AWS secret key",
        (b"secret_access_key", b"SECRET_ACCESS_KEY"),
        re.compile(rb"(?i:aws_secret_access_key)\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}\b"),
    ),
    _Form(
        "a GitHub token",
        (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
        re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60})"),
    ),
    _Form(
        "a GitLab token",
        (b"glpat-", b"gldt-", b"glrt-", b"glptt-"),
        re.compile(rb"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20}"),
    ),
    _Form(
        "a Hugging Face token",
        (b"hf_", b"api_org_"),
        re.compile(rb"\b(?:hf|api_org)_[A-Za-z]{34}\b"),
    ),
    _Form(
        "a PyPI token",
        (b"pypi-Ag",),
        re.compile(rb"\bpypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{20}"),
    ),
    _Form(
        "an npm token",
        (b"npm_", b"_authToken"),
        re.compile(rb"\bnpm_[A-Za-z0-9]{36}\b|:_authToken\s*=\s*[^\s$]"),
    ),
    _Form(
        "a Slack token",
        (b"xox", b"xapp-", b"hooks.slack.com/"),
        re.compile(
            rb"\bxox[abeoprs][.-][0-9A-Za-z.-]{20}"
            rb"|\bxapp-[0-9]-[0-9A-Z]+-[0-9]+-[0-9A-Za-z]{20}"
            rb"|\bhooks\.slack\.com/services/T[0-9A-Z]{8,}/B[0-9A-Z]{8,}/[0-9A-Za-z]{24}\b"
        ),
    ),
    _Form("a Google key", (b"AIza",), re.compile(rb"\bAIza[0-9A-Za-z_-]{35}")),
    _Form(
        "an API key",
        (b"sk-",),
        re.compile(
            rb"\bsk-(?:ant-|proj-|svcacct-|admin-|or-v1-)[A-Za-z0-9_-]{20}"
            # OpenAI's older keys are nothing but letters and digits.
            rb"|(?<![\w-])sk-" + _MIXED + rb"[A-Za-z0-9]{48}(?![\w-])"
        ),
    ),
    _Form("an Azure storage key", (b"AccountKey=",), re.compile(rb"\bAccountKey=[A-Za-z0-9+/]{86}==")),
    _Form(
        "a Weights & Biases key",
        (b"WANDB_API_KEY",),
        re.compile(rb"\bWANDB_API_KEY[\"']?\]?\s*[=:,]\s*[\"']?[0-9a-f]{40}\b"),
    ),
)


def secrets_of(path: str, data: bytes) -> Iterator[str]:
    """What is secret about a file with these first bytes, each with its place in it: `PLACE: what`."""
    if is_secret_file(path):
        yield f"{path}: a file of passwords or keys by its name"
        return
    for form in _FORMS:
        if any(needed in data for needed in form.needed) and (found := form.pattern.search(data)):
            line = data.count(b"\n", 0, found.start()) + 1
            yield f"{path}, line {line}: {form.what}"


def is_secret_file(path: str) -> bool:
    """Whether such a file holds passwords or keys, by its name."""
    name = path.rpartition("/")[2]
    if name.endswith(EXAMPLES):
        return False
    return name in SECRET_FILES or name.startswith(".env.") or f"/{path}".endswith(SECRET_PATHS)


def secrets_in(store: Store, tree: Digest) -> tuple[str, ...]:
    """What is secret in a source tree of the store, as far as a glance shows it."""
    return tuple(
        secret
        for entry, stream in read_tree(store.path(tree_blob(store, tree)))
        if entry.kind is EntryKind.FILE
        for secret in secrets_of(entry.path, stream.read(GLANCED))
    )
