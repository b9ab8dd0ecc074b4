"""Which commands make an observation, and what deviates from it."""

from typing import Any

import pytest

from reprobridge_launcher.manifest import Task, parse
from reprobridge_launcher.outcome import StopError
from reprobridge_launcher.plan import Request, combined, deviations, expected, limit, steps
from support.launcher_artifact import manifest, task


def made(statistic: str = "mean", direction: str = "higher", **changes: Any) -> Task:
    measurement = task()["measurement"] | {"statistic": statistic, "direction": direction}
    measurement |= {"repeats": changes.pop("repeats", 1)}
    return parse(manifest(task(measurement=measurement, **changes))).tasks[0]


SEEDS = {"option": "--seed", "values": [7, 8]}


def test_one_command_runs_in_the_run_s_own_folder() -> None:
    (step,) = steps(made("value"), Request())
    assert (step.argv, step.folder, step.seed) == (("python", "run.py"), ".", None)


def test_a_command_is_stopped_after_ten_times_what_its_author_says() -> None:
    task = made(seeds=SEEDS, repeats=3)
    assert task.resources.time == 60.0
    assert {step.timeout for step in steps(task, Request())} == {limit(task)} == {600.0}
    assert expected(task) == 6 * 60.0
    endless = made(resources={"gpus": 0})
    assert (limit(endless), expected(endless)) == (None, None)


def test_each_seed_and_repeat_is_a_command_in_a_folder_of_its_own() -> None:
    planned = steps(made(seeds=SEEDS, repeats=2), Request())
    assert [(s.seed, s.repeat, s.folder, s.argv[2:]) for s in planned] == [
        (7, 1, "part-1", ("--seed", "7")),
        (7, 2, "part-2", ("--seed", "7")),
        (8, 1, "part-3", ("--seed", "8")),
        (8, 2, "part-4", ("--seed", "8")),
    ]


def test_a_seed_without_an_option_changes_no_argument() -> None:
    planned = steps(made(seeds={"option": None, "values": [7, 8]}), Request())
    assert {s.argv for s in planned} == {("python", "run.py")}


def test_a_smoke_run_is_its_own_command_with_its_own_limit() -> None:
    (step,) = steps(made(seeds=SEEDS), Request(smoke=True))
    assert (step.argv, step.timeout, step.seed) == (("python", "run.py", "--short"), 60.0, None)
    with pytest.raises(StopError, match="no smoke run"):
        steps(made(smoke=None), Request(smoke=True))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(), []),
        (Request(seed=7), ["seed 7 only; the task defines 7, 8"]),
        (Request(repeat=1), []),
        (Request(repeat=3), ["repeats: 3; the task defines 1"]),
        (Request(extra=("--fast", "x")), ["arguments added: --fast x"]),
    ],
)
def test_everything_that_differs_is_a_deviation(request_: Request, said: list[str]) -> None:
    assert list(deviations(made(seeds=SEEDS), request_)) == said


def test_the_only_seed_asked_for_by_name_is_no_deviation() -> None:
    assert deviations(made(seeds={"option": "-s", "values": [7]}), Request(seed=7)) == ()


def test_a_seed_for_a_task_without_seeds_is_refused() -> None:
    with pytest.raises(StopError, match="takes no seed"):
        steps(made(), Request(seed=1))


@pytest.mark.parametrize(
    ("statistic", "direction", "expected"),
    [
        ("mean", "higher", 3.0),
        ("median", "higher", 2.0),
        ("best", "higher", 6.0),
        ("best", "lower", 1.0),
        ("last", "higher", 2.0),
    ],
)
def test_the_statistic_makes_one_value_of_the_parts(statistic: str, direction: str, expected: float) -> None:
    assert combined(made(statistic, direction, seeds=SEEDS), [6.0, 1.0, 2.0]) == expected
