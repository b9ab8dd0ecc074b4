"""Facts of wheels: a format that reads back."""

from reprobridge.assemble.wheel.facts import WheelFacts, read_facts, write_facts


def test_facts_read_back_as_they_were_written() -> None:
    facts = WheelFacts(
        folder="a-1.dist-info",
        license_expression=None,
        license="MIT",
        classifiers=("License :: OSI Approved :: MIT License",),
        warnings=(),
        record_warnings=("x: y",),
    )
    assert read_facts(write_facts(facts)) == facts
