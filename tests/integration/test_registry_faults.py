"""What registries do wrong, and what our client makes of it: every row of the fault table, over real sockets.

After each the registry's content is right, or a RegistryError says clearly what is wrong and the same again,
without the fault, succeeds.
"""

import pytest

from support.registry_faults.model import Case
from support.registry_faults.page import page
from support.registry_faults.table import CASES
from support.registry_faults.trial import try_out
from support.source_tree import ROOT


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_the_state_is_right_or_an_error_is_clear_and_a_rerun_succeeds(case: Case) -> None:
    try_out(case)


def test_the_rows_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_page_for_readers_is_the_generated_one() -> None:
    assert (ROOT / "guides/reference/registry-faults.md").read_text() == page()
