"""What a wheel declares as its license: read where it leaves no choice, and shown where it does."""

import pytest

from reprobridge.assemble.wheel.facts import WheelFacts
from reprobridge.assemble.wheel.license import DeclaredLicense, declared_license

OSI = "License :: OSI Approved"


def declared(
    *, expression: str | None = None, text: str | None = None, classifiers: tuple[str, ...] = ()
) -> DeclaredLicense:
    facts = WheelFacts(
        folder="a-1.dist-info",
        license_expression=expression,
        license=text,
        classifiers=classifiers,
        warnings=(),
        record_warnings=(),
    )
    return declared_license(facts)


def test_an_expression_is_taken_as_it_is() -> None:
    assert declared(expression="MIT OR Apache-2.0", text="GPL") == DeclaredLicense("MIT OR Apache-2.0", "")


def test_an_expression_in_another_spelling_is_spelt_right_and_shown() -> None:
    assert declared(expression="mit") == DeclaredLicense("MIT", "License-Expression: mit")


def test_an_expression_that_is_none_is_shown_and_the_older_fields_do_not_replace_it() -> None:
    found = declared(expression="LicenseRef-Own", text="MIT")
    assert found == DeclaredLicense(None, "License-Expression: LicenseRef-Own")


@pytest.mark.parametrize(
    ("text", "classifiers", "expression"),
    [
        (None, (f"{OSI} :: MIT License",), "MIT"),
        (None, (OSI, f"{OSI} :: MIT License"), "MIT"),
        ("MIT", (), "MIT"),
        ("BSD-3-Clause", (f"{OSI} :: BSD License",), "BSD-3-Clause"),
        ("new BSD", (f"{OSI} :: BSD License",), "BSD-3-Clause"),
        ("BSD (3-clause)", (), "BSD-3-Clause"),
        ("Apache License, Version 2.0", (f"{OSI} :: Apache Software License",), "Apache-2.0"),
        ("MIT OR Apache-2.0", (), "MIT OR Apache-2.0"),
        (None, (f"{OSI} :: BSD License",), None),
        (None, (f"{OSI} :: Apache Software License",), None),
        (None, (f"{OSI} :: MIT License", f"{OSI} :: BSD License"), None),
        ("GPL-3.0-only", (f"{OSI} :: MIT License",), None),
        ("my own", (f"{OSI} :: MIT License",), None),
        (None, (f"{OSI} :: Some New License",), None),
        (None, (OSI,), None),
        (None, (), None),
        ("", (), None),
    ],
)
def test_older_fields_count_where_they_leave_no_choice(
    text: str | None, classifiers: tuple[str, ...], expression: str | None
) -> None:
    assert declared(text=text, classifiers=classifiers).expression == expression


def test_the_words_themselves_are_shown() -> None:
    found = declared(text="new\n  BSD", classifiers=(OSI, f"{OSI} :: BSD License"))
    assert found.words == f"License: new BSD; Classifier: {OSI} :: BSD License"


def test_of_a_whole_license_its_beginning_is_shown() -> None:
    assert declared(text="Copyright\n" * 1000).words.endswith("Copyright Copyright…")
    assert len(declared(text="x" * 1000).words) < 250
