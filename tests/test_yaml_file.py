"""YAML of strangers: plain values, bounded, or one clear line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalkit
from evalkit.commands.assess_options import merged
from evalkit.errors import InputError
from evalkit.targets import read_profile
from evalkit.yaml_file import LARGEST_FILE_BYTES, parse_yaml

PROFILE = """
name: our-policy
issuer: the hospital
issuer_role: controller
date: 2026-01-15
status: internal
context: {recipient: internal}
targets:
  - {metric: linkability_protection_rate, operator: ">=", value: VALUE, definition: same}
"""


def parsed(folder: Path, content: str | bytes) -> dict[str, Any]:
    path = folder / "given.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return parse_yaml(path, "schema")[1]


def test_names_and_dates_are_texts_as_they_are_written(tmp_path: Path) -> None:
    fields = parsed(tmp_path, "2019: 2024-01-02\nno: [1, -2.5, yes, ~, 'x']\n010: {true: 0x1f}\n")
    assert fields == {
        "2019": "2024-01-02",
        "no": [1, -2.5, True, None, "x"],
        "010": {"true": 31},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3 of the schema: 'a' stands twice"),
        ("b: {a: 1, 'a': 2}", "'a' stands twice"),
        ("a: 0x" + "f" * 5000, "over 30 digits"),
        ("a: " + "9" * 5000, "over 30 digits"),
        ("a: 12:30", "base 60"),
        ("a: 1" + ":1" * 2000, "base 60"),
        ("a: 1:30.5", "base 60"),
        ("a: .nan", "no finite number"),
        ("a: -.inf", "no finite number"),
        ("a: 1.0e+400", "no finite number"),
        ("a: !!set {x}", "of the type 'tag:yaml.org,2002:set'"),
        ("a: !!binary aGk=", "of the type 'tag:yaml.org,2002:binary'"),
        ("a: !!omap [b: 1]", "of the type 'tag:yaml.org,2002:omap'"),
        ("a: !ours 3", "of the type '!ours'"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("a: &x [*x]", "aliases"),
        ("a: !!bool x", "not readable as YAML"),
        ("a: !!int ''", "not readable as YAML"),
        ("? [a]\n: 2", "a name must be a text"),
        ("a: " + "[" * 5000, "not readable as YAML"),
        (f"a: {'x' * 140_000}", "over 100,000 characters"),
        ("", "list of 'name: value' lines"),
        (b"a: \xff", "not readable as YAML"),
    ],
)
def test_what_is_no_plain_value_gives_one_short_line(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        parsed(tmp_path, content)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_size_is_counted_and_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (LARGEST_FILE_BYTES + 1))
    with pytest.raises(InputError, match="the limit is 1 MB"):
        parse_yaml(path, "schema")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices on this system")
def test_devices_and_pipes_are_no_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        with pytest.raises(InputError, match="a pipe or a device, not a file"):
            parse_yaml(path, "schema")


def test_a_path_that_cannot_exist_gives_one_line() -> None:
    for name in ("a\0b.yaml", "\ud800.yaml", "x" * 300 + ".yaml"):
        with pytest.raises(InputError, match="cannot be read as a schema"):
            parse_yaml(Path(name), "schema")


def test_a_schema_file_that_would_unfold_without_end_is_refused(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path = tmp_path / "schema.yaml"
    path.write_text("\n".join(["a0: &a0 [x]", *levels]), encoding="utf-8")
    table = pd.DataFrame({"age": [1, 2]})
    with pytest.raises(InputError, match="aliases"):
        evalkit.load(table, table, schema=path)


def test_a_schema_file_may_not_type_a_column_twice(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("columns:\n  age: {type: numeric}\n  age: {use: false}\n", encoding="utf-8")
    table = pd.DataFrame({"age": [1, 2]})
    with pytest.raises(InputError, match="line 3 of the schema: 'age' stands twice"):
        evalkit.load(table, table, schema=path)


def test_a_schema_file_names_a_column_as_the_table_does(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("columns: {010: {type: categorical}}\n", encoding="utf-8")
    table = pd.DataFrame({"010": [1, 2, 3], "x": [1, 2, 3]})
    assert evalkit.load(table, table, schema=path).schema["010"].type == "categorical"


@pytest.mark.parametrize("value", [".nan", ".inf", "-.inf", "1.0e+999"])
def test_a_target_must_be_finite(tmp_path: Path, value: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(PROFILE.replace("VALUE", value), encoding="utf-8")
    with pytest.raises(InputError, match="no finite number"):
        read_profile(str(path))


def test_the_context_of_a_profile_holds_plain_values_only(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    for value in ("!!set {x}", "!!binary aGk=", "0x" + "f" * 5000):
        text = PROFILE.replace("VALUE", "50").replace("recipient: internal", f"note: {value}")
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError):
            read_profile(str(path))


def test_a_configuration_with_an_option_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "assessment.yaml"
    path.write_text("seed: 1\nseed: 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2 of the configuration: 'seed' stands twice"):
        merged({"seed": None, "config": str(path)})
