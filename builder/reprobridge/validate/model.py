"""The validation report: which checks there are, what each found, and when a report is complete.

A report of a version holds exactly the checks of that version, each once: a check that could not be made is
`not_run` with its reason, never left out. It is bound to one image by the digest of its manifest.
JSON form (schema `reprobridge.validation/1`), here and in guides/reference/validation-report.md:

    {"schema": …, "image": "sha256:…", "artifact": "<64 hex>" | null, "sandbox": "bubblewrap",
     "checks": [{"check": "image.digests", "verdict": "passed", "evidence": ["…"], "milliseconds": 12}, …],
     "notes": ["…"] | null}
"""

from collections.abc import Mapping
from enum import StrEnum

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen

SCHEMA = "reprobridge.validation/1"
"""Value of `schema`; its number is the version of the set of checks."""


class CheckId(StrEnum):
    """Every check, in the order in which they are made and shown."""

    DIGESTS = "image.digests"
    CONFIG = "image.config"
    LAYERS = "image.layers"
    MODES = "image.modes"
    INVENTORY = "files.inventory"
    SECRETS = "files.secrets"
    HISTORY = "files.history"
    CACHES = "files.caches"
    SCORES = "files.scores"
    LAUNCHER = "launcher.contract"
    REQUIREMENTS = "python.requirements"
    IMPORTS = "python.imports"
    SMOKE = "tasks.smoke"
    ANY_USER = "tasks.any-user"
    GUIDE = "guide.blocks"


PROMISES: Mapping[CheckId, str] = {
    CheckId.DIGESTS: "every digest, size and diff_id, recomputed from the bytes, is the one that is written down",
    CheckId.CONFIG: "platform, entrypoint, environment, labels and annotations are as the format says",
    CheckId.LAYERS: "at most 120 layers, none over 10 GB, no path with different content in two of them",
    CheckId.MODES: "any user can read code, environment and data, and write to /tmp and /out",
    CheckId.INVENTORY: "the files of /rra/code and /opt/env are exactly those of the image's inventory",
    CheckId.SECRETS: "no private key, token or password file outside the base system",
    CheckId.HISTORY: "no version control folder outside the base system",
    CheckId.CACHES: "no cache and no bytecode outside the base system but what the build made",
    CheckId.SCORES: "no file of the code is one that the source's `exclude` names",
    CheckId.LAUNCHER: "the launcher lists, shows and checks, in text and JSON, with the documented exit codes",
    CheckId.REQUIREMENTS: "the installed distributions are the locked ones and satisfy each other's requirements",
    CheckId.IMPORTS: "every topmost module of the environment can be imported, but for those excepted with a reason",
    CheckId.SMOKE: "every task's smoke run yields a value through the task's extractor; "
    "its scored command names nothing that is missing, and its checkpoints are there",
    CheckId.ANY_USER: "the launcher's check and the smoke runs give the same as another, arbitrary user",
    CheckId.GUIDE: "every executable block of the guide runs and prints what it says",
}
"""What a passed check means."""

NEEDS: Mapping[CheckId, tuple[CheckId, ...]] = {
    **{check: (CheckId.DIGESTS,) for check in CheckId if check is not CheckId.DIGESTS},
    CheckId.LAUNCHER: (CheckId.DIGESTS, CheckId.CONFIG, CheckId.INVENTORY),
    CheckId.IMPORTS: (CheckId.DIGESTS, CheckId.REQUIREMENTS),
    CheckId.SMOKE: (CheckId.LAUNCHER,),
    CheckId.ANY_USER: (CheckId.SMOKE,),
    CheckId.GUIDE: (CheckId.SMOKE,),
}
"""Checks that must not have failed before a check is made, so that one fault fails one check: a guide that
runs a task whose value can't be extracted is not wrong because of that."""


class Verdict(StrEnum):
    """How a check went."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


@frozen
class Finding:
    """What a check found."""

    verdict: Verdict
    """How it went."""
    evidence: tuple[str, ...]
    """Readable lines: what was looked at, or everything that is wrong; never a secret itself."""


def passed(*evidence: str) -> Finding:
    """The check holds."""
    return Finding(Verdict.PASSED, evidence)


def judged(problems: list[str], otherwise: str) -> Finding:
    """Failed with all problems, or passed."""
    return Finding(Verdict.FAILED, tuple(problems)) if problems else passed(otherwise)


@frozen(kw_only=True)
class CheckResult:
    """A finding with its check and its time."""

    check: CheckId
    """Which check."""
    finding: Finding
    """What it found."""
    milliseconds: int
    """How long it took."""


@frozen(kw_only=True)
class Report:
    """All findings about one image."""

    image: Digest
    """Its manifest's digest."""
    artifact: str | None
    """The artifact's id as the image states it, 64 hexadecimal digits; None when it states none."""
    sandbox: str
    """Kind of the sandbox that its commands ran in."""
    results: tuple[CheckResult, ...]
    """One for each check, in the order of `CheckId`."""
    notes: tuple[str, ...] | None = None
    """What `build` noted of the image, which no verdict depends on; None: it was built elsewhere, so nobody knows."""

    @property
    def complete(self) -> bool:
        """Whether it holds exactly the checks of its version."""
        return [result.check for result in self.results] == list(CheckId)

    @property
    def passed(self) -> bool:
        """Whether it is complete and every check passed."""
        return self.complete and all(result.finding.verdict is Verdict.PASSED for result in self.results)

    def with_verdict(self, verdict: Verdict) -> tuple[CheckResult, ...]:
        """The results with this verdict."""
        return tuple(result for result in self.results if result.finding.verdict is verdict)

    def to_json(self) -> dict[str, Json]:
        """The JSON form."""
        return {
            "schema": SCHEMA,
            "image": str(self.image),
            "artifact": self.artifact,
            "sandbox": self.sandbox,
            "checks": [
                {
                    "check": result.check.value,
                    "verdict": result.finding.verdict.value,
                    "evidence": list(result.finding.evidence),
                    "milliseconds": result.milliseconds,
                }
                for result in self.results
            ],
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, value: object) -> "Report":
        """Read the JSON form, also one of earlier releases, without notes.

        Raises ValueError, TypeError or KeyError for anything else.
        """
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            raise ValueError(f"expected a report of schema {SCHEMA}")
        results = tuple(
            CheckResult(
                check=CheckId(item["check"]),
                finding=Finding(Verdict(item["verdict"]), tuple(map(str, item["evidence"]))),
                milliseconds=int(item["milliseconds"]),
            )
            for item in value["checks"]
        )
        return cls(
            image=Digest.parse(value["image"]),
            artifact=value["artifact"],
            sandbox=str(value["sandbox"]),
            results=results,
            notes=_notes(value.get("notes")),
        )


def _notes(value: object) -> tuple[str, ...] | None:
    match value:
        case None:
            return None
        case [*notes]:
            return tuple(map(str, notes))
    raise TypeError(f"expected a list of notes, found {value!r}")
