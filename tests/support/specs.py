"""A small but complete specification and lock, as values, for tests of the stages behind them."""

from pathlib import PurePosixPath

from reprobridge.digest import Digest
from reprobridge.lock.model import (
    Lock,
    LockedDeb,
    LockedDebian,
    LockedFile,
    LockedPlatform,
    LockedPython,
    LockedSource,
    LockedTools,
    LockedWheel,
)
from reprobridge.lock.revisions import REVISIONS
from reprobridge.oci.members import CODEC, ENCODER
from reprobridge.spec import model

PLATFORM = "linux/amd64"
"""The platform that the sample lock is for."""


def digest(text: str) -> Digest:
    """A digest to tell things apart."""
    return Digest.of(text.encode())


def sample_task(task: str = "lda") -> model.Task:
    """A task with everything that is required."""
    return model.Task(
        id=task,
        title="Linear discriminant analysis",
        experiment=model.Experiment(id="loo", dataset="wine", split="leave-one-out", variant="LDA"),
        published=model.Published(location="Table 1, row LDA", raw="98.9%", value="98.9", decimals=1),
        measurement=model.Measurement(
            name="accuracy", unit="percent", direction="higher", statistic="value", over=None, repeats=1
        ),
        scope="full_pipeline",
        checkpoints=(),
        command=("python", "run.py", "--classifier", task),
        smoke=model.Smoke(command=("python", "run.py", "--smoke"), timeout=60),
        seeds=None,
        extract=model.Extract(
            file="stdout", kind="regex", parameters={"regex": "accuracy: (?P<value>[0-9.]+)"}
        ),
        resources=model.Resources(),
        references=model.References(observations=("98.8", "98.9", "99.0"), where="here and there"),
    )


def sample_spec(**changes: object) -> model.Spec:
    """A specification; keyword arguments replace its fields."""
    guide = PurePosixPath("GUIDE.md")
    fields: dict[str, object] = {
        "paper": model.Paper(id="wine", title="Comparison of Classifiers", authors=("A. Author",), year=1992),
        "version": "1.0.0",
        "license": "BSD-3-Clause",
        "repository": None,
        "source": model.FolderSource(PurePosixPath("src")),
        "exclude": (),
        "changes": (),
        "environment": model.Environment(
            template="debian12-py311", python=model.PythonWish(requirements=None)
        ),
        "tasks": (sample_task(),),
        "decisions": model.Decisions(),
        "guide": guide,
        "files": {guide: b"# Guide\n"},
        **changes,
    }
    return model.Spec(**fields)  # type: ignore[arg-type]  # the fields are the model's


def sample_change(name: str = "C1") -> model.Change:
    """A change of the source that `patches/NAME.patch` makes."""
    return model.Change(
        id=name,
        patch=PurePosixPath(f"patches/{name}.patch"),
        change_class=model.ChangeClass.EXECUTION_REPAIR,
        why="it did not run",
        affects_numbers="no",
        paper=None,
        ambiguity=None,
        tasks=(),
    )


def sample_wheel(name: str, size: int = 1000) -> LockedWheel:
    """A locked wheel."""
    file = LockedFile(f"{name.replace('-', '_')}-1.0-py3-none-any.whl", digest(name), size)
    return LockedWheel(name=name, version="1.0", file=file, requested=True)


def sample_deb(name: str) -> LockedDeb:
    """A locked Debian package."""
    return LockedDeb(
        name=name,
        version="1",
        architecture="amd64",
        archive="debian",
        pool=f"pool/main/{name}_1_amd64.deb",
        sha256=digest(name),
        size=100,
    )


def sample_lock(
    wheels: tuple[LockedWheel, ...] = (sample_wheel("numpy"),), extra: tuple[LockedDeb, ...] = ()
) -> Lock:
    """A lock with a small base system."""
    base = tuple(sample_deb(name) for name in ("base-files", "bash", "python3.11"))
    debian = LockedDebian(wish=digest("debian"), suites=(), base=base, extra=extra)
    python = LockedPython(
        wish=digest("python"), version="3.11", interpreter="/usr/bin/python3.11", wheels=wheels
    )
    return Lock(
        tools=LockedTools(
            release="0", encoder=ENCODER, codec=CODEC, converters=dict(REVISIONS), launcher=digest("launcher")
        ),
        template="debian12-py311",
        source=LockedSource(
            wish=digest("source"),
            kind="path",
            origin="src",
            commit=None,
            file=None,
            tree=digest("tree"),
            refined=digest("refined"),
            date="1980-01-02T00:00:00Z",
        ),
        platforms={PLATFORM: LockedPlatform(debian=debian, python=python)},
    )
