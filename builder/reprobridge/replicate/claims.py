"""Whether what a signed statement says fits the image that it is about.

The validation report must be about this digest and passed, the provenance must name the lock that the image
holds, the bill of materials must be the image's own, each measurement of the image's tasks, code and locks. Kinds that we do not know are not looked into: that
somebody whom the policy trusts signed them is all that can be said.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.lock.file import FILE_NAME
from reprobridge.publish.signing.check import CheckedStatement
from reprobridge.publish.statements.sbom import cyclonedx_document
from reprobridge.publish.statements.statement import PredicateType
from reprobridge.publish.statements.validation import read_validation
from reprobridge.replicate.contents import Contents
from reprobridge.replicate.measured import counting_records
from reprobridge.validate.model import Verdict
from reprobridge.wording import counted


@frozen(kw_only=True)
class Known:
    """What statements are compared with."""

    image: Digest
    """The image's digest of record."""
    contents: Contents | None
    """What the image says about itself; None where that cannot be read."""
    accept_not_run: bool = False
    """Whether checks count that the publisher declared as not run."""

    def required(self, what: str) -> Contents:
        """The contents. Raises TrustError when there are none to compare with."""
        if self.contents is None:
            raise TrustError(f"the image's {what} cannot be read to compare with")
        return self.contents


def compare(statement: CheckedStatement, known: Known) -> str:
    """Compare; gives a line for people, empty where there is nothing to compare. Raises TrustError."""
    comparison = _COMPARISONS.get(statement.predicate_type)
    return "" if comparison is None else comparison(statement, known)


def _validation(statement: CheckedStatement, known: Known) -> str:
    report, accepted = read_validation(statement.predicate)
    if report.image != known.image:
        raise TrustError(
            "the report is about another image", expected=str(known.image), found=str(report.image)
        )
    if not report.complete:
        raise TrustError("the report lacks checks", found=f"{len(report.results)} checks")
    if failed := report.with_verdict(Verdict.FAILED):
        raise TrustError("the validation failed", found=", ".join(result.check.value for result in failed))
    not_run = [result.check.value for result in report.with_verdict(Verdict.NOT_RUN)]
    if not_run and not (known.accept_not_run and set(not_run) <= set(accepted.not_run)):
        hint = "accept what the publisher accepted with --accept-not-run"
        raise TrustError("checks were not run", found=", ".join(not_run), hint=hint)
    said = f"{len(report.results) - len(not_run)} checks passed"
    said += f", not run: {', '.join(not_run)}" if not_run else ""
    return said + (f", published unmeasured: {', '.join(accepted.unmeasured)}" if accepted.unmeasured else "")


def _provenance(statement: CheckedStatement, known: Known) -> str:
    contents = known.required("lock")
    lock, artifact = Digest.of(contents.lock), contents.read_manifest().artifact.id
    match statement.predicate:
        case {
            "buildDefinition": {
                "externalParameters": {"artifact": str(built)},
                "resolvedDependencies": list(dependencies),
            },
            "runDetails": {"builder": {"id": str(builder)}},
        }:
            named = [_sha256(one) for one in dependencies if _names_lock(one)]
        case _:
            raise TrustError("the provenance is not one of reprobridge")
    if named != [lock.hex]:
        found = ", ".join(f"sha256:{one}" for one in named) or "none"
        raise TrustError(
            "the provenance names another lock than the image holds", expected=str(lock), found=found
        )
    if built != artifact:
        raise TrustError("the provenance is of another artifact", expected=artifact, found=built)
    return f"lock as in the image, built by {builder}"


def _sbom(statement: CheckedStatement, known: Known) -> str:
    return _same_document(statement, known, lambda document: document)


def _cyclonedx(statement: CheckedStatement, known: Known) -> str:
    return _same_document(statement, known, cyclonedx_document)


def _same_document(
    statement: CheckedStatement,
    known: Known,
    derived: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> str:
    try:
        document = json.loads(known.required("bill of materials").sbom)
        same = derived(document) == statement.predicate
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TrustError("the image's bill of materials is broken", found=repr(error)) from error
    if not same:
        raise TrustError("the bill of materials is not the one that the image holds")
    return f"{len(document.get('packages', ()))} packages, as in the image"


def _measurements(statement: CheckedStatement, known: Known) -> str:
    artifact = known.required("manifest").read_manifest()
    records = counting_records(statement, artifact)
    unmeasured = sorted({task.id for task in artifact.tasks} - records.keys())
    said = f"{counted(len(records), 'task')} measured"
    return said + (f", not measured: {', '.join(unmeasured)}" if unmeasured else "")


def _names_lock(dependency: object) -> bool:
    return isinstance(dependency, Mapping) and dependency.get("name") == FILE_NAME


def _sha256(dependency: Mapping[str, Any]) -> str | None:
    digest = dependency.get("digest")
    return str(digest.get("sha256")) if isinstance(digest, Mapping) else None


_COMPARISONS: Mapping[str, Callable[[CheckedStatement, Known], str]] = {
    PredicateType.VALIDATION: _validation,
    PredicateType.PROVENANCE: _provenance,
    PredicateType.SPDX: _sbom,
    PredicateType.CYCLONEDX: _cyclonedx,
    PredicateType.MEASUREMENTS: _measurements,
}
