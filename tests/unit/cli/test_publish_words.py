"""Words of `publish` and of `build --known` that do not fit together, and what a single word means."""

from pathlib import Path

import pytest

from reprobridge.store.store import Store
from support.artifact_image import ArtifactImage
from support.command import reprobridge

IMAGE = "reprobridge/tiny:1.0.0"
REFUSED = 11
USAGE = 2


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one image that nobody validated."""
    made = Store(tmp_path_factory.mktemp("store"))
    made.refer("reprobridge/tiny", "1.0.0", ArtifactImage().build(made).manifest.digest)
    return made.root


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cosign-tag",), "--cosign-tag: cosign's tag takes a key"),
        (("--keyless", "--offline"), "--keyless: signing without a key takes the network"),
        (("--proof-key", "k.pub"), "--proof-key: no proof is taken over"),
        (("--key", "k", "--keyless"), "not allowed with argument"),
        (("more", "words"), "too many words"),
    ],
)
def test_words_that_do_not_fit_together_are_refused(store: Path, words: tuple[str, ...], said: str) -> None:
    done = reprobridge("publish", IMAGE, "ghcr.io/me/paper", *words, store=store)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert said in done.stderr


def test_proof_from_elsewhere_takes_a_key_that_counts(store: Path) -> None:
    done = reprobridge(
        "publish", IMAGE, "ghcr.io/me/paper", "--proof-from", "ghcr.io/me/other", "--offline", store=store
    )
    assert done.returncode == USAGE
    assert "nobody is named whose proof counts" in done.stderr


def test_a_single_word_without_a_registry_is_an_image(store: Path) -> None:
    done = reprobridge("publish", IMAGE, store=store)
    assert done.returncode == REFUSED
    assert done.stderr.startswith("reprobridge: reprobridge/tiny@sha256:")


def test_a_single_word_with_a_registry_is_where_the_artifact_here_goes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = reprobridge("publish", "ghcr.io/me/paper", store=store)
    assert done.returncode == USAGE
    assert "reprobridge.yaml" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--known", "ghcr.io/me/paper"), "expected: --known-key FILE"),
        (("--known-key", "k.pub"), "nothing is known without --known"),
        (("--recompute",), "nothing is known without --known"),
        (("--known", "ghcr.io/me/p", "--known-key", "k", "-o", "oci:out"), "can't be written out"),
        (("--known", "ghcr.io/me/p", "--known-key", "/none.pub"), "/none.pub: the key cannot be read"),
        (("--recompute", "0"), "a whole number of at least 1"),
    ],
)
def test_what_is_known_needs_a_key_and_stays_in_the_store(
    store: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = reprobridge("build", tmp_path, *words, store=store)
    assert done.returncode == USAGE
    assert said in done.stderr
