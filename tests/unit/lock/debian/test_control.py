"""Control paragraphs and relations."""

import pytest

from reprobridge.lock.debian.control import Relation, parse_paragraph, parse_relations, split_paragraphs

TEXT = """\
Package: hello
Depends: libc6 (>= 2.36),
 sh
# a comment
Description: greets
 people
 .
 politely

Package: other
"""


def test_paragraphs_are_split_at_blank_lines() -> None:
    assert [text.splitlines()[0] for text in split_paragraphs(TEXT)] == ["Package: hello", "Package: other"]


def test_a_folded_field_keeps_its_lines() -> None:
    fields = parse_paragraph(next(split_paragraphs(TEXT)))
    assert fields["Depends"] == "libc6 (>= 2.36),\n sh"
    assert fields["Description"] == "greets\n people\n .\n politely"


@pytest.mark.parametrize("text", ["no colon here", " a continuation first"])
def test_what_is_no_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|continuation"):
        parse_paragraph(text)


def test_relations_have_alternatives_bounds_and_qualifiers() -> None:
    assert parse_relations("a (>= 1:2~), b:any | c (<<3) ,\n d") == [
        (Relation("a", ">=", "1:2~"),),
        (Relation("b"), Relation("c", "<<", "3")),
        (Relation("d"),),
    ]


@pytest.mark.parametrize("text", ["a (2)", "a (>= )", "(>= 1)", "a b"])
def test_what_is_no_relation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a package relation"):
        parse_relations(text)


def test_a_bound_is_never_met_by_a_virtual_package_without_version() -> None:
    assert Relation("awk").accepts(None)
    assert not Relation("awk", ">=", "1").accepts(None)
