"""Which commands a guide holds, and what a session's streams say of each."""

import subprocess

from reprobridge.system.processes import Completed
from reprobridge.validate.guide.blocks import Step, Stray, steps_of
from reprobridge.validate.guide.session import Outcome, outcomes, script

GUIDE = """\
# Title

```console
$ echo one
one
$ cat <<X
> a
>
> b
> X
a

b

$ false
[exit 1]
```

- in a list:

  ```console
  $ echo two
  ```

```sh
$ not executed
```

    $ nor this
"""


def test_commands_come_in_order_with_their_lines_output_and_status() -> None:
    assert steps_of(GUIDE) == [
        Step(4, "echo one", "one"),
        Step(6, "cat <<X\na\n\nb\nX", "a\n\nb"),
        Step(15, "false", "", 1),
        Step(22, "echo two", ""),
    ]


def test_lines_that_belong_to_no_command_are_found() -> None:
    assert steps_of("```console\noutput\n$ x\n```\n") == [Stray(2), Step(3, "x", "")]
    assert steps_of("```console\n```\n") == [Stray(2)]
    assert steps_of("```console title\nrra list\n```\n") == [Stray(2)]


def test_an_exit_line_in_the_middle_is_output() -> None:
    assert steps_of("```console\n$ x\n[exit 1]\nend\n```\n") == [Step(2, "x", "[exit 1]\nend")]


def run(*commands: str) -> list[Outcome]:
    steps = [Step(number, command, "") for number, command in enumerate(commands)]
    ended = subprocess.run(["sh", "-c", script(steps, "mark")], capture_output=True, check=False)
    return outcomes(Completed(argv=(), returncode=0, stdout=ended.stdout, stderr=ended.stderr), "mark")


def test_each_command_has_its_own_streams_and_status() -> None:
    found = run("printf a", "echo b; echo c >&2; (exit 3)", "true")
    assert found == [Outcome("a", "", 0), Outcome("b\n", "c\n", 3), Outcome("", "", 0)]


def test_folders_and_variables_last_and_standard_input_is_empty() -> None:
    found = run("cd / && x=1", 'echo "$PWD $x"', "cat", "read y || echo end")
    assert [outcome.stdout for outcome in found] == ["", "/ 1\n", "", "end\n"]


def test_a_command_that_ends_the_session_has_no_outcome() -> None:
    assert len(run("echo a", "exit 3", "echo b")) == 1
    assert len(run("echo a", "echo 'open", "echo b")) == 1
