"""Reading /proc: this process, a child, and lines as the kernel writes them."""

import os
import subprocess
import sys

from benchmarks.machine import processor_of
from benchmarks.measure import Invocation, measure
from benchmarks.process_tree import anonymous_memory, parse_cpu, parse_field, tree, usage_of

STAT = "7 (a (strange) name) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 1 0 9 1 1"


def test_cpu_is_user_and_kernel_time_of_a_process_and_its_ended_children() -> None:
    assert parse_cpu(STAT) == 300 / os.sysconf("SC_CLK_TCK")
    assert parse_cpu("") == 0.0


def test_a_field_is_its_first_number() -> None:
    text = "Name:\tx\nRssAnon:\t   1234 kB\nRssFile:\t 9 kB\n"
    assert parse_field(text, "RssAnon") == 1234
    assert parse_field(text, "VmSwap") == 0


def test_a_tree_holds_a_living_child_and_forgets_an_ended_one() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert {os.getpid(), child.pid} <= set(tree(os.getpid()))
    finally:
        child.communicate(b"\n")
    assert child.pid not in set(tree(os.getpid()))


def test_this_process_uses_cpu_and_memory() -> None:
    assert usage_of([os.getpid()]).cpu > 0
    assert anonymous_memory([os.getpid()]) > 1_000_000
    assert anonymous_memory([]) == 0


def test_a_measured_command_costs_what_its_children_cost() -> None:
    work = "sum(range(3_000_000)); print('done')"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}], check=True)"
    cost, output = measure(Invocation(argv=[sys.executable, "-c", code], environment=dict(os.environ)))
    assert output == "done\n"
    assert cost.cpu > 0
    assert cost.wall > 0


def test_a_processors_name_is_its_model() -> None:
    assert processor_of("processor\t: 0\nmodel name\t: A  Model @ 2 GHz\n") == "A Model @ 2 GHz"
    assert processor_of("processor\t: 0\n") == "an unknown processor"
