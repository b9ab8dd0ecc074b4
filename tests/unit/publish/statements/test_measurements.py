"""Evidence and references in a statement: every task is there, numbers are text, records are whole."""

import json
from typing import Any

from reprobridge.publish.statements.measurements import measurements
from reprobridge.validate.scored import Scored
from reprobridge_launcher import references
from reprobridge_launcher.record import replaced
from support.publishing import failed, record_of, scored
from support.statements import SUBJECT, said_of_itself

SAID = said_of_itself()
TASKS = SAID.manifest.tasks


def tasks_of(*evidence: Scored, given: dict[str, references.Reference] = SAID.references) -> list[Any]:
    statement = measurements(SUBJECT, SAID.manifest, given, evidence)
    said: list[Any] = json.loads(statement.to_bytes())["predicate"]["tasks"]
    return said


def test_every_task_is_listed_in_the_authors_order_measured_or_not() -> None:
    listed = tasks_of(scored(record_of(SAID.manifest, TASKS[0])))
    assert [item["task"] for item in listed] == [task.id for task in TASKS]
    assert [item["measured"] is None for item in listed] == [False] + [True] * (len(TASKS) - 1)


def test_the_record_comes_back_byte_for_byte() -> None:
    kept = scored(record_of(SAID.manifest, TASKS[0]))
    measured = tasks_of(kept)[0]["measured"]
    assert Scored.parse(measured["record"].encode()) == kept
    assert (measured["value"], measured["witness"], measured["failure"]) == ("98.8764", "runner", None)


def test_a_classified_failure_is_said() -> None:
    kept = scored(replaced(record_of(SAID.manifest, TASKS[0]), **failed("extraction_error")))
    measured = tasks_of(kept)[0]["measured"]
    assert (measured["value"], measured["failure"]) == (None, "extraction_error")


def test_references_are_text_with_where_they_come_from() -> None:
    given = references.parse(
        {
            "schema": references.SCHEMA,
            "tasks": {TASKS[0].id: {"observations": [98.88, [98.8, 99.0]], "where": "two laptops"}},
        }
    )
    listed = tasks_of(given=given)
    assert listed[0]["references"] == {"where": "two laptops", "observations": ["98.88", ["98.8", "99.0"]]}
    assert {item["task"]: item["references"] for item in listed[1:]} == {task.id: None for task in TASKS[1:]}
