"""A task's value is read from what a run left, or it's said why not."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge_launcher.extraction import (
    Extracted,
    NotExtracted,
    check_pattern,
    extract,
    matching_files,
    parse,
    reduced,
)
from reprobridge_launcher.fields import FormatError

REGEX: dict[str, Any] = {"kind": "regex", "file": "stdout", "regex": "accuracy: (?P<value>[-+0-9.eE]+)"}
JSON: dict[str, Any] = {"kind": "json", "file": "r.json", "json": "/test/accuracy"}
JSONL: dict[str, Any] = {"kind": "jsonl", "file": "log.jsonl", "jsonl": "/acc"}
CSV: dict[str, Any] = {"kind": "csv", "file": "t.csv", "csv": {"where": {"method": "ours"}, "column": "acc"}}


def found(folder: Path, form: dict[str, Any], **files: bytes) -> Extracted | NotExtracted:
    """Write files (`stdout`, `stderr`, or outputs with `__` for `/` and `_` for `.`) and extract."""
    for name, data in files.items():
        stream = name in ("stdout", "stderr")
        path = (
            folder / f"{name}.log"
            if stream
            else folder / "outputs" / name.replace("__", "/").replace("_", ".")
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return extract(parse(form, "extract"), str(folder))


def value(result: Extracted | NotExtracted) -> float:
    assert isinstance(result, Extracted), result
    return result.value


def reason(result: Extracted | NotExtracted) -> str:
    assert isinstance(result, NotExtracted), result
    return result.reason


class TestRegex:
    def test_value_raw_text_digest_and_span_are_given(self, tmp_path: Path) -> None:
        data = "präzise\n\xff accuracy: 98.50 %\n".encode("latin-1")
        result = found(tmp_path, REGEX, stdout=data)
        assert isinstance(result, Extracted)
        (match,) = result.matches
        assert (result.value, match.raw, match.file) == (98.5, "98.50", "stdout.log")
        assert data[match.start : match.end] == b"98.50"
        assert match.sha256 == hashlib.sha256(data).hexdigest()

    @pytest.mark.parametrize(("occurrence", "expected"), [("first", 1.0), ("last", 3.0)])
    def test_one_of_several_matches_is_chosen(self, tmp_path: Path, occurrence: str, expected: float) -> None:
        text = b"accuracy: 1\naccuracy: 2\naccuracy: 3\n"
        assert value(found(tmp_path, REGEX | {"occurrence": occurrence}, stdout=text)) == expected

    def test_several_matches_are_an_error_by_default_even_if_equal(self, tmp_path: Path) -> None:
        message = reason(found(tmp_path, REGEX, stdout=b"accuracy: 1\naccuracy: 1\n"))
        assert "exactly one match" in message
        assert "1, 1" in message

    @pytest.mark.parametrize(("occurrence", "expected"), [("first", 0.0), ("last", 120000.0)])
    def test_a_log_may_hold_any_number_of_matches_where_one_counts(
        self, tmp_path: Path, occurrence: str, expected: float
    ) -> None:
        text = b"".join(b"accuracy: %d\n" % i for i in range(120001))
        assert value(found(tmp_path, REGEX | {"occurrence": occurrence}, stdout=text)) == expected
        assert "at most 100000 matches" in reason(found(tmp_path, REGEX, stdout=text))

    def test_matches_of_any_length_are_told_in_few_words(self, tmp_path: Path) -> None:
        message = reason(found(tmp_path, REGEX, stdout=b"accuracy: " + b"9" * 1000000 + b"\naccuracy: 1\n"))
        assert "exactly one match" in message
        assert "999..., 1" in message
        assert len(message) < 300

    @pytest.mark.parametrize("data", [b"", b"nothing here\n"])
    def test_no_match_is_an_error(self, tmp_path: Path, data: bytes) -> None:
        assert "found none" in reason(found(tmp_path, REGEX, stdout=data))

    def test_standard_error_can_be_read_and_the_value_scaled(self, tmp_path: Path) -> None:
        form = REGEX | {"file": "stderr", "scale": 100}
        assert value(found(tmp_path, form, stderr=b"accuracy: 0.5\n")) == 50.0

    @pytest.mark.parametrize("raw", ["nan", "inf", "1_000", "١", "1e999", "1.2.3", ""])
    def test_what_is_no_finite_decimal_number_is_an_error(self, tmp_path: Path, raw: str) -> None:
        form = REGEX | {"regex": r"accuracy: (?P<value>.*)"}
        assert "finite number" in reason(found(tmp_path, form, stdout=f"accuracy: {raw}\n".encode()))

    def test_a_group_that_took_no_part_in_the_match_is_no_match(self, tmp_path: Path) -> None:
        form = REGEX | {"regex": r"acc (?P<value>\d+)?"}
        assert "found none" in reason(found(tmp_path, form, stdout=b"acc \n"))

    def test_a_log_of_many_matches_ends_in_an_error_not_in_memory(self, tmp_path: Path) -> None:
        form = REGEX | {"regex": "(?P<value>1)"}
        assert "at most" in reason(found(tmp_path, form, stdout=b"1" * 100_002))


class TestJson:
    @pytest.mark.parametrize(
        ("document", "pointer", "expected"),
        [
            ('{"a": [{"b": 1.5}, 2]}', "/a/0/b", 1.5),
            ('{"a": [{"b": 1.5}, 2]}', "/a/1", 2.0),
            ("7", "", 7.0),
            ('{"": 3}', "/", 3.0),
            ('{"a/b": 1, "m~n": 2}', "/a~1b", 1.0),
            ('{"a/b": 1, "m~n": 2}', "/m~0n", 2.0),
            ('{"~1": 4}', "/~01", 4.0),
            (' { "x" : -1e-3 , "y" : NaN } ', "/x", -1e-3),
        ],
    )
    def test_pointers_resolve_as_rfc_6901_says(
        self, tmp_path: Path, document: str, pointer: str, expected: float
    ) -> None:
        assert value(found(tmp_path, JSON | {"json": pointer}, r_json=document.encode())) == expected

    @pytest.mark.parametrize("pointer", ["/a/2", "/a/01", "/a/-", "/b", "/a/0/0"])
    def test_a_pointer_to_nothing_is_an_error(self, tmp_path: Path, pointer: str) -> None:
        assert "found none" in reason(found(tmp_path, JSON | {"json": pointer}, r_json=b'{"a": [1, 2]}'))

    @pytest.mark.parametrize("document", [b"{", b'{"a": 1, "a": 2}', b"\xff", b"[" * 100_000])
    def test_a_broken_document_is_an_error(self, tmp_path: Path, document: bytes) -> None:
        assert "expected JSON" in reason(found(tmp_path, JSON | {"json": "/a"}, r_json=document))

    @pytest.mark.parametrize("item", ["true", "null", '"0.9"', "NaN", "Infinity", "[1]"])
    def test_only_numbers_are_values(self, tmp_path: Path, item: str) -> None:
        message = reason(found(tmp_path, JSON | {"json": "/a"}, r_json=f'{{"a": {item}}}'.encode()))
        assert "finite number" in message

    @given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
    def test_the_span_is_in_bytes_whatever_stands_before(
        self, tmp_path_factory: Any, key: str, number: float
    ) -> None:
        import json

        folder: Path = tmp_path_factory.mktemp("json")
        text = json.dumps({"key" + key: key, "test": {"accuracy": number}}, ensure_ascii=False)
        data = b"\xef\xbb\xbf" + text.encode("utf-8", "replace")
        result = found(folder, JSON, r_json=data)
        assert isinstance(result, Extracted)
        assert float(data[result.matches[0].start : result.matches[0].end]) == result.value == number


class TestJsonLines:
    LOG = b'{"epoch": 1, "acc": 0.5}\n\n{"note": "saved"}\n{"epoch": 2, "acc": 0.75}\n'

    def test_lines_without_the_target_are_passed_over(self, tmp_path: Path) -> None:
        result = found(tmp_path, JSONL | {"occurrence": "last"}, log_jsonl=self.LOG)
        assert isinstance(result, Extracted)
        assert result.value == 0.75
        assert self.LOG[result.matches[0].start : result.matches[0].end] == b"0.75"

    def test_several_lines_are_an_error_by_default(self, tmp_path: Path) -> None:
        assert "0.5, 0.75" in reason(found(tmp_path, JSONL, log_jsonl=self.LOG))

    def test_lines_can_be_reduced(self, tmp_path: Path) -> None:
        assert value(found(tmp_path, JSONL | {"reduce": "max", "expect": 2}, log_jsonl=self.LOG)) == 0.75

    def test_a_broken_line_is_an_error_that_names_it(self, tmp_path: Path) -> None:
        assert "line 2" in reason(found(tmp_path, JSONL, log_jsonl=b'{"acc": 1}\n{"acc": \n'))


class TestCsv:
    TABLE = b'\xef\xbb\xbfmethod,note,acc\r\nbase,"a, ""b""\nc",0.5\r\nours,,0.9\r\n'

    def test_the_cell_of_the_matching_row_is_read(self, tmp_path: Path) -> None:
        result = found(tmp_path, CSV, t_csv=self.TABLE)
        assert isinstance(result, Extracted)
        (match,) = result.matches
        assert (result.value, match.raw) == (0.9, "0.9")
        assert self.TABLE[match.start : match.end] == b"ours,,0.9\r\n"

    def test_the_last_row_may_lack_its_newline(self, tmp_path: Path) -> None:
        result = found(tmp_path, CSV, t_csv=b"method,acc\nours,1")
        assert isinstance(result, Extracted)
        assert (result.value, result.matches[0].end) == (1.0, 17)

    def test_another_delimiter_can_be_declared(self, tmp_path: Path) -> None:
        form = CSV | {"csv": {"where": {"method": "ours"}, "column": "acc", "delimiter": "\t"}}
        assert value(found(tmp_path, form, t_csv=b"method\tacc\nours\t2\n")) == 2.0

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            (b"", "one column method among none"),
            (b"method,acc,acc\nours,1,2\n", "one column acc"),
            (b"method,accuracy\nours,1\n", "one column acc among method, accuracy"),
            (b"method,acc\nours\n", "expected 2 cells, found 1"),
            (b'method,acc\n"ours,1\n', "expected CSV"),
            (b"method,acc\nbase,1\n", "found none"),
            (b"method,acc\nours,1\nours,2\n", "found 1, 2"),
        ],
    )
    def test_a_table_that_does_not_hold_one_such_cell_is_an_error(
        self, tmp_path: Path, table: bytes, message: str
    ) -> None:
        assert message in reason(found(tmp_path, CSV, t_csv=table))


class TestFilesAndReduction:
    FOLDS = JSON | {"file": "fold*/r.json", "json": "/acc", "reduce": "mean", "expect": 3}

    def fold(self, folder: Path, *values: float) -> None:
        for number, acc in enumerate(values):
            path = folder / "outputs" / f"fold{number}" / "r.json"
            path.parent.mkdir(parents=True)
            path.write_text(f'{{"acc": {acc}}}')

    @pytest.mark.parametrize(
        ("how", "expected"), [("mean", 3.0), ("median", 2.0), ("max", 6.0), ("min", 1.0)]
    )
    def test_values_of_all_files_are_reduced(self, tmp_path: Path, how: str, expected: float) -> None:
        self.fold(tmp_path, 1.0, 6.0, 2.0)
        assert value(found(tmp_path, self.FOLDS | {"reduce": how})) == expected

    @pytest.mark.parametrize("form", [FOLDS, FOLDS | {"reduce": "max", "scale": 100}])
    def test_a_number_that_grows_beyond_all_numbers_is_an_error(
        self, tmp_path: Path, form: dict[str, Any]
    ) -> None:
        self.fold(tmp_path, 1.7e308, 1.7e308, 1.7e308)
        assert "expected a finite number, found inf" in reason(found(tmp_path, form))

    def test_another_number_of_values_than_expected_is_an_error(self, tmp_path: Path) -> None:
        self.fold(tmp_path, 1.0, 6.0)
        assert "expected 3 values, found 2" in reason(found(tmp_path, self.FOLDS))

    def test_several_files_without_a_reduction_are_an_error(self, tmp_path: Path) -> None:
        self.fold(tmp_path, 1.0, 6.0)
        message = reason(found(tmp_path, JSON | {"file": "fold*/r.json", "json": "/acc"}))
        assert "fold0/r.json, fold1/r.json" in message

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        assert "r.json: expected a file in the outputs, found none" in reason(found(tmp_path, JSON))
        assert "expected a file" in reason(found(tmp_path, REGEX))

    def test_stars_stay_inside_of_a_component_and_double_stars_do_not(self, tmp_path: Path) -> None:
        for name in ("a/x.json", "b/c/x.json", "x.json", "a/y.json", "a/x.jso"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("1")
        assert matching_files("*/x.json", str(tmp_path)) == ["a/x.json"]
        assert matching_files("**/x.json", str(tmp_path)) == ["a/x.json", "b/c/x.json", "x.json"]
        assert matching_files("a/?.js*", str(tmp_path)) == ["a/x.jso", "a/x.json", "a/y.json"]

    def test_a_link_out_of_the_outputs_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.json").write_text('{"test": {"accuracy": 1}}')
        (tmp_path / "outputs").mkdir()
        (tmp_path / "outputs/r.json").symlink_to(tmp_path / "secret.json")
        assert "found none" in reason(found(tmp_path, JSON))

    @given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), st.randoms())
    def test_reductions_do_not_depend_on_order_and_stay_inside(
        self, values: list[float], random: Any
    ) -> None:
        shuffled = list(values)
        random.shuffle(shuffled)
        for how in ("mean", "median", "max", "min"):
            assert reduced(values, how) == reduced(shuffled, how)
            assert min(values) <= reduced(values, how) <= max(values)


class TestForm:
    @pytest.mark.parametrize("form", [REGEX, JSON, JSONL, CSV, TestFilesAndReduction.FOLDS])
    def test_what_is_written_reads_as_the_same(self, form: dict[str, Any]) -> None:
        extractor = parse(form, "extract")
        assert parse(extractor.form(), "extract") == extractor

    def test_with_a_reduction_all_matches_of_a_file_count(self) -> None:
        assert parse(REGEX | {"reduce": "mean", "expect": 2}, "extract").occurrence == "all"

    @pytest.mark.parametrize(
        ("form", "place", "expected"),
        [
            ({}, "extract.kind", "one of regex, json, jsonl, csv"),
            ({"kind": "xml", "file": "x"}, "extract.kind", "one of"),
            ({"kind": "regex", "file": "stdout"}, "extract.regex", "text"),
            (REGEX | {"regex": "("}, "extract.regex", "a regular expression"),
            (REGEX | {"regex": "([0-9]+)"}, "extract.regex", "exactly one group"),
            (REGEX | {"regex": "(?P<value>a)(b)"}, "extract.regex", "exactly one group"),
            (REGEX | {"regex": "(?P<value>[±0-9]+)"}, "extract.regex", "ASCII in classes"),
            (REGEX | {"regex": "é+(?P<value>1)"}, "extract.regex", "ASCII in classes"),
            (JSON | {"json": "a/b"}, "extract.json", "a JSON pointer"),
            (REGEX | {"file": "/etc/passwd"}, "extract.file", "relative path"),
            (REGEX | {"file": "../x"}, "extract.file", "relative path"),
            (REGEX | {"occurrence": "some"}, "extract.occurrence", "one of only, first, last, all"),
            (REGEX | {"occurrence": "all"}, "extract.occurrence", "or reduce"),
            (REGEX | {"expect": 2}, "extract.expect", "reduce"),
            (REGEX | {"reduce": "mean"}, "extract.expect", "the number of values"),
            (REGEX | {"reduce": "sum", "expect": 2}, "extract.reduce", "one of mean"),
            (REGEX | {"scale": 0}, "extract.scale", "other than 0"),
            (REGEX | {"scale": True}, "extract.scale", "a number"),
            (REGEX | {"pattern": "x"}, "extract.pattern", "one of the keys"),
            (REGEX | {"rule": "x"}, "extract.rule", "no such key"),
            (CSV | {"csv": {"where": {"a": 1}, "column": "b"}}, "extract.csv.where.a", "text"),
            (CSV | {"csv": {"where": {}}}, "extract.csv.column", "text"),
            (CSV | {"csv": {"column": "b", "delimiter": ";;"}}, "extract.csv.delimiter", "one character"),
            (CSV | {"csv": {"column": "b", "delimiter": '"'}}, "extract.csv.delimiter", "one character"),
            (CSV | {"csv": {"column": "b", "delimiter": "\n"}}, "extract.csv.delimiter", "one character"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(
        self, form: dict[str, Any], place: str, expected: str
    ) -> None:
        with pytest.raises(FormatError) as caught:
            check_pattern(parse(form, "extract"), "extract")
        assert caught.value.place == place
        assert expected in caught.value.expected
