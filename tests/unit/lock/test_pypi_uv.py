"""Asking uv: what it is told, and what its failures become."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reprobridge.errors import LockError, NetworkError, ReproBridgeError
from reprobridge.lock.doors import Doors
from reprobridge.lock.pypi_settings import IndexSettings
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_uv import (
    ATTEMPTS,
    Dependencies,
    NoWheelError,
    Question,
    compile_pylock,
    compile_sources,
)
from reprobridge.store.store import Store
from reprobridge.system.network import Offline, RealNetwork
from reprobridge.system.processes import Command, Completed
from support.specs import sample_wheel

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")
EMPTY = 'lock-version = "1.0"\ncreated-by = "uv"\npackages = []\n'


@dataclass
class FakeUv:
    """`Processes` that answer like uv."""

    answer: str = EMPTY
    stderr: str = ""
    returncode: int = 0
    timed_out: bool = False
    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """What lay in its folder."""

    def run(self, command: Command) -> Completed:
        """Keep the question; write the answer."""
        self.commands.append(command)
        assert command.cwd is not None
        self.files = {path.name: path.read_text() for path in command.cwd.iterdir()}
        output = command.argv[command.argv.index("--output-file") + 1]
        if self.returncode == 0:
            (command.cwd / output).write_text(self.answer)
        return Completed(
            argv=command.argv,
            returncode=self.returncode,
            stdout=b"",
            stderr=self.stderr.encode(),
            timed_out=self.timed_out,
        )


def ask(uv: FakeUv, folder: Path, *, offline: bool = False, **fields: object) -> None:
    """Ask for six."""
    settings = IndexSettings(
        toml='index-url = "https://i"\n', environment={"PATH": "/bin"}, named_in=("UV_INDEX_URL",)
    )
    question = Question(
        requirements="six\n",
        target=TARGET,
        settings=settings,
        **fields,  # type: ignore[arg-type]  # the fields are the class's
    )
    compile_pylock(question, doors(uv, folder, offline=offline))


def doors(uv: FakeUv, folder: Path, *, offline: bool = False) -> Doors:
    """Doors with a fake uv behind them; nobody waits."""
    return Doors(
        store=Store(folder),
        processes=uv,
        network=Offline() if offline else RealNetwork(),
        environment={},
        pause=lambda _: None,
    )


def test_uv_builds_nothing_and_looks_at_the_target_only(store_folder: Path) -> None:
    uv = FakeUv()
    ask(uv, store_folder)
    argv = uv.commands[0].argv
    assert "--no-build" in argv
    assert argv[argv.index("--python-version") + 1] == "3.11"
    assert argv[argv.index("--python-platform") + 1] == "x86_64-manylinux_2_36"
    assert argv[argv.index("--config-file") + 1] == "settings.toml"
    assert uv.commands[0].environment == {"PATH": "/bin"}
    assert uv.files["settings.toml"] == 'index-url = "https://i"\n'
    assert uv.files["requirements.in"] == "six\n"
    assert not {"--exclude-newer", "--no-deps", "--index", "--offline"} & set(argv)


def test_every_part_of_a_question_reaches_uv(store_folder: Path) -> None:
    uv = FakeUv()
    ask(
        uv,
        store_folder,
        offline=True,
        constraints="six<2\n",
        preferred=[sample_wheel("six")],
        indexes=("https://a", "https://b"),
        cutoff="2026-01-01T00:00:00Z",
        follow=False,
    )
    text = " ".join(uv.commands[0].argv)
    assert "--index https://a --index https://b" in text
    assert "--exclude-newer 2026-01-01T00:00:00Z" in text
    assert {"--no-deps", "--offline"} <= set(uv.commands[0].argv)
    assert uv.files["constraints.txt"] == "six<2\n"
    assert 'name = "six"\nversion = "1.0"' in uv.files["pylock.toml"]


def test_sdists_may_be_chosen_only_where_uv_knows_all_that_it_would_build_for(store_folder: Path) -> None:
    uv = FakeUv()
    known = Dependencies(name="a", version="2.0", requires=("b>1",), requires_python=">=3", extras=("x",))
    ask(uv, store_folder, unpublished=("a", "c"), metadata=(known,))
    text = " ".join(uv.commands[0].argv)
    assert "--only-binary :all: --no-binary a --no-binary c" in text
    assert tomllib.loads(uv.files["settings.toml"]) == {
        "index-url": "https://i",
        "dependency-metadata": [
            {"name": "a", "requires-dist": []},
            {"name": "c", "requires-dist": []},
            {
                "name": "a",
                "version": "2.0",
                "requires-dist": ["b>1"],
                "requires-python": ">=3",
                "provides-extra": ["x"],
            },
        ],
    }


def test_nothing_is_left_behind(store_folder: Path) -> None:
    ask(FakeUv(), store_folder)
    assert list((store_folder / "scratch").iterdir()) == []


def failure(uv: FakeUv, folder: Path, *, offline: bool = False) -> ReproBridgeError:
    """What a failure of uv becomes."""
    with pytest.raises(ReproBridgeError) as caught:
        ask(uv, folder, offline=offline)
    return caught.value


# As uv 0.11 says it.
NOT_CACHED = (
    "error: No solution found when resolving dependencies\n  cause: Because six was not found in the cache and "
    "you require six, we can conclude that your requirements are unsatisfiable.\n\n"
    "hint: Packages were unavailable because the network was disabled. When the network is disabled, registry "
    "packages may only be read from the cache.\n"
)
NOT_DOWNLOADED = (
    "error: Failed to download `x @ https://h/x.whl`\n  cause: Network connectivity is disabled, but the "
    "requested data wasn't found in the cache: https://h/x.whl\n"
)


@pytest.mark.parametrize("stderr", [NOT_CACHED, NOT_DOWNLOADED])
def test_what_only_the_network_knows_is_a_network_error_with_the_way_out(
    stderr: str, store_folder: Path
) -> None:
    error = failure(FakeUv(returncode=1, stderr=stderr), store_folder, offline=True)
    assert isinstance(error, NetworkError)
    assert error.hint == "drop --offline"
    assert str(error.found).startswith("offline mode: ")
    forbidden_by_uv = failure(FakeUv(returncode=1, stderr=stderr), store_folder)
    assert isinstance(forbidden_by_uv, NetworkError)
    assert "UV_OFFLINE" in str(forbidden_by_uv.hint)


def test_a_question_without_an_answer_is_a_lock_error_with_uvs_reasons(store_folder: Path) -> None:
    stderr = (
        "error: No solution found when resolving dependencies\n  cause: Because b depends\n         on a<1.\n"
        "\nhint: try\nthis\n"
    )
    error = failure(FakeUv(returncode=1, stderr=stderr), store_folder)
    assert isinstance(error, LockError)
    assert error.found == "Because b depends on a<1."
    assert error.hint == "try this"


def test_releases_that_the_date_leaves_out_are_explained_in_our_words(store_folder: Path) -> None:
    stderr = (
        "error: No solution found when resolving dependencies\n  cause: Because there are no versions of six…\n\n"
        "hint: `six` was filtered by `exclude-newer` to only include packages uploaded before 2026-01-02. Consider "
        "using `exclude-newer-package` to override the cutoff for this package.\n"
    )
    error = failure(FakeUv(returncode=1, stderr=stderr), store_folder)
    assert isinstance(error, LockError)
    assert str(error.hint).startswith(
        "`six` was filtered by `exclude-newer` to only include packages uploaded"
    )
    assert "before 2026-01-02. `exclude_newer` leaves out" in str(error.hint)
    assert "exclude-newer-package" not in str(error)


def test_no_password_in_uvs_words_is_shown(store_folder: Path) -> None:
    stderr = "error: No solution found\n  cause: Because https://ann:secret@h/simple/six?private_token=secret is bad\n"
    error = failure(FakeUv(returncode=1, stderr=stderr), store_folder)
    assert "https://***@h/simple/six?private_token=*** is bad" in str(error)


def test_packages_without_wheels_are_named(store_folder: Path) -> None:
    stderr = (
        "error: No solution found when resolving dependencies\n  cause: Because docopt has no usable wheels…\n\n"
        "hint: Wheels are required for `docopt` because building from source is disabled for all packages\n"
    )
    error = failure(FakeUv(returncode=1, stderr=stderr), store_folder)
    assert isinstance(error, NoWheelError)
    assert error.names == ("docopt",)
    assert error.hint == "choose a version of docopt that has a wheel"


def test_a_network_that_stumbles_is_asked_again_and_then_an_error(store_folder: Path) -> None:
    uv = FakeUv(returncode=2, stderr="error: Request failed\n  cause: dns error\n")
    error = failure(uv, store_folder)
    assert isinstance(error, NetworkError)
    assert error.where == "environment.python"
    assert "check the network" in str(error.hint)
    assert "UV_INDEX_URL" in str(error.hint)
    assert len(uv.commands) == ATTEMPTS


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server error (500 Internal Server Error)", NetworkError),
        ("server error (503 Service Unavailable)", NetworkError),
        ("client error (429 Too Many Requests)", NetworkError),
        ("client error (418 I'm a teapot)", LockError),
    ],
)
def test_whether_a_server_is_asked_again_depends_on_its_answer_and_not_on_its_port(
    code: str, kind: type[ReproBridgeError], store_folder: Path
) -> None:
    url = "http://127.0.0.1:45025/simple/six/"
    stderr = f"error: Failed to fetch: {url}\n  cause: HTTP status {code} for url ({url})\n"
    error = failure(FakeUv(returncode=2, stderr=stderr), store_folder)
    assert isinstance(error, kind)
    assert error.found == f"Failed to fetch: {url}: HTTP status {code}"


@pytest.mark.parametrize("returncode", [1, 2])
def test_a_definite_answer_is_not_asked_for_again(returncode: int, store_folder: Path) -> None:
    uv = FakeUv(returncode=returncode, stderr="error: Couldn't parse requirement\n")
    assert isinstance(failure(uv, store_folder), LockError)
    assert len(uv.commands) == 1


def test_a_uv_that_does_not_end_is_a_network_error(store_folder: Path) -> None:
    assert isinstance(failure(FakeUv(returncode=-9, timed_out=True), store_folder), NetworkError)


@pytest.mark.parametrize("answer", ["nonsense", "a = 1\n", EMPTY.replace("1.0", "9.0")])
def test_an_answer_that_is_no_pylock_is_an_error(answer: str, store_folder: Path) -> None:
    assert isinstance(failure(FakeUv(answer=answer), store_folder), LockError)


def test_sources_are_read_by_package(store_folder: Path) -> None:
    uv = FakeUv(
        answer="a-b==1.0\n    # from https://i/simple\nc @ https://x/c.whl\nd==2+cpu\n    # from file:///d\n"
    )
    question = Question(requirements="", target=TARGET, settings=IndexSettings(toml="", environment={}))
    assert compile_sources(question, doors(uv, store_folder)) == {"a-b": "https://i/simple", "d": "file:///d"}
