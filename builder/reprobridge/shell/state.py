"""What a script has changed so far, and how much work following it may take."""

from collections.abc import Mapping, Sequence

from reprobridge.shell.syntax import Block

UNKNOWN = "\0"
"""Stands in a word for what its text does not tell."""
LONGEST = 1 << 16
"""Most characters of a script, of a value and of a printed text; the longest script we met has 15 thousand."""
STEP = 50
"""What a command costs; a character that is read or made costs 1."""
_MOST_WORK = 1_000_000
"""The most that a script may cost, which takes about a second; Debian's need a tenth of it."""


class Budget:
    """Counts the work that a script takes: nothing in it can make following it long or large."""

    def __init__(self) -> None:
        self._left = _MOST_WORK

    def spend(self, work: int) -> None:
        """Take a part of it away. Raises ValueError when nothing is left."""
        self._left -= work
        if self._left < 0:
            raise ValueError("a script that takes too long to follow")


class State:
    """Variables, functions, arguments and printed text at a point of a script."""

    def __init__(self, variables: Mapping[str, str], arguments: Sequence[str] | None) -> None:
        self.variables = dict(variables)
        """One that is not here is unknown: the environment may have it."""
        self.outer: dict[str, str] = {}
        """Of variables that are local to the function that runs: what they were before it."""
        self.functions: dict[str, tuple[Block | None, ...]] = {}
        """Bodies that each may have; None: it may be no function."""
        self.arguments = None if arguments is None else tuple(arguments)
        """None: unknown."""
        self.printed = ""
        """What `$(…)` would get."""
        self.live = True
        """Whether this point can be reached."""

    def copy(self, budget: Budget) -> "State":
        """Another one like this."""
        budget.spend(STEP + len(self.variables) + len(self.functions) + len(self.outer))
        other = State(self.variables, self.arguments)
        other.become(self)
        other.variables, other.outer = dict(self.variables), dict(self.outer)
        other.functions = dict(self.functions)
        return other

    def become(self, other: "State") -> None:
        """Take over all of another one, which nobody may use any more."""
        self.__dict__.update(other.__dict__)

    def same(self, other: "State") -> bool:
        """Whether nothing tells them apart."""
        return self.__dict__ == other.__dict__


def joined(states: Sequence[State], budget: Budget) -> State:
    """What is certain in whichever of these states a script is; those that are not reached do not count."""
    alive = [state for state in states if state.live] or list(states[:1])
    result = alive[0].copy(budget)
    for state in alive[1:]:
        budget.spend(4 * (len(state.variables) + len(state.functions) + len(state.outer)))
        result.variables = _agreed(result.variables, state.variables)
        result.outer = _agreed(result.outer, state.outer)
        for name in {*result.functions, *state.functions}:
            bodies = (*result.functions.get(name, (None,)), *state.functions.get(name, (None,)))
            result.functions[name] = distinct(bodies)
        if result.arguments != state.arguments:
            result.arguments = None
        if result.printed != state.printed:
            result.printed = UNKNOWN
    return result


def distinct(bodies: Sequence[Block | None]) -> tuple[Block | None, ...]:
    """Each body of a function once; the same text at another place of a script is another."""
    return tuple({id(body): body for body in bodies}.values())


def _agreed(left: Mapping[str, str], right: Mapping[str, str]) -> dict[str, str]:
    """Values that are the same in both; unknown ones elsewhere."""
    names = dict.fromkeys([*left, *right])
    return {
        name: value if (value := left.get(name, UNKNOWN)) == right.get(name, UNKNOWN) else UNKNOWN
        for name in names
    }
