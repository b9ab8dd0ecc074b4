"""Which base systems a specification may name."""

from pathlib import Path

from reprobridge.spec.templates import template_names


def test_the_shipped_templates_are_known() -> None:
    assert {"debian12-py311", "debian13-py313"} <= set(template_names())


def test_only_templates_count(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("schema: reprobridge.template/1\n")
    (tmp_path / "a.yaml").write_text("# A comment.\nschema: reprobridge.template/1\n")
    (tmp_path / "order.yaml").write_text("schema: reprobridge.order/1\n")
    (tmp_path / "c.json").write_text("schema: reprobridge.template/1\n")
    assert template_names(tmp_path) == ("a", "b")
