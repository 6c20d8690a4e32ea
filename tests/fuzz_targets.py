"""What strangers may hand in, and what is done with it: an error is an InputError or a fault."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.feather
from sample_assessment import bare, sample

import evalkit
from evalkit.inspecting import inspect
from evalkit.records import decode
from evalkit.rules.applying import apply_rule
from evalkit.rules.checking import checked_rule
from evalkit.rules.listing import rule_list
from evalkit.splitting import split_file

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = Path(__file__).resolve().parent / "fuzz_corpus"
SLUG = "linkability_protection_rate"
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"missing": ["?", "-9"]},
    {"decimal": ","},
    {"delimiter": ";"},
    {"encoding": "latin-1"},
    {"datetime": ["d"], "categorical": ["a"]},
)
TABLE = pd.DataFrame(
    {
        "a": [31, 45, None, 38] * 3,
        "b": ["Nice", "Lyon", "Île", None] * 3,
        "d": pd.to_datetime(["2021-01-01", "2022-02-03", None, "2020-12-31"] * 3),
        "t": [True, False, True, None] * 3,
    }
)
CSV = TABLE.to_csv(index=False).encode()


def read(content: bytes, folder: Path) -> None:
    """Read a file as a table, inspect it and split it."""
    path = folder / "original.csv"
    path.write_bytes(content)
    options = OPTIONS[sum(content) % len(OPTIONS)]
    try:
        release = evalkit.load(path, path, **options)
    except evalkit.InputError as error:
        one_line(error)
    else:
        assert len(release.original) == release.inputs["original"].rows > 0
        for line in release.ledger:
            assert line.filled + sum(line.missing.values()) == line.rows
    found = inspect([path])
    schema = folder / "schema.yaml"
    schema.write_text(found.schema_yaml(), encoding="utf-8")
    again = inspect([path], schema=schema)
    kinds = [[(one.name, one.type) for one in each.schema.variables] for each in (found, again)]
    assert kinds[0] == kinds[1]
    split_file(path, folder / "parts")


def schema(content: bytes, folder: Path) -> None:
    """Read a table by a schema file."""
    path = folder / "schema.yaml"
    path.write_bytes(content)
    evalkit.load(TABLE, TABLE, schema=path)


def rule(content: bytes, folder: Path) -> None:
    """Parse, check and apply a rule."""
    del folder
    table = release()
    for one in rule_list([content.decode("utf-8", "replace")], "schema.yaml"):
        node = checked_rule(one, table.schema)
        apply_rule(node, table.original, table.schema)


@cache
def release() -> evalkit.Release:
    """Return the table that rules are applied to."""
    return evalkit.load(TABLE, TABLE)


def record(content: bytes, folder: Path) -> None:
    """Read an assessment and make its page."""
    del folder
    page = evalkit.Report(decode(content, "assessment.json")).html()
    assert "<script" not in page.lower()


def template(content: bytes, folder: Path) -> None:
    """Make the page of an assessment with the templates of a user."""
    page = folder / "metrics" / SLUG / "en.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(b"# A\n\n## Name\n\nLink\n\n## Reading\n\n" + content + b"\n")
    try:
        evalkit.Report(one_result(), templates=folder).html()
    except evalkit.InputError as error:
        one_line(error)
    page.unlink()
    block = folder / "technical_assessment" / "section.html.j2"
    block.parent.mkdir(exist_ok=True)
    block.write_bytes(content)
    evalkit.Report(bare(), templates=folder).html()


@cache
def one_result() -> evalkit.Assessment:
    """Return an assessment of one page."""
    whole = sample()
    return msgspec.structs.replace(whole, results={SLUG: whole.results[SLUG]})


def one_line(error: evalkit.InputError) -> None:
    """Hold an error to what every error is."""
    assert "\n" not in str(error)
    assert len(str(error)) < 2000


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "read": read,
    "schema": schema,
    "rule": rule,
    "record": record,
    "template": template,
}


def check(target: str, content: bytes, folder: Path) -> None:
    """Give content to a target; whatever is raised but an InputError of one line is a fault."""
    try:
        TARGETS[target](content, folder)
    except evalkit.InputError as error:
        one_line(error)


def seeds(target: str) -> list[bytes]:
    """Return the contents that others are made from: the corpus and what is made here."""
    found = [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]
    if target == "read":
        found += made_tables()
    if target == "record":
        found += [msgspec.json.encode(one) for one in (sample(), bare())]
    return found


def made_tables() -> list[bytes]:
    """Return one table in forms that are no text, or packed."""
    sink, arrow, zipped, book = (io.BytesIO() for _ in range(4))
    TABLE.to_parquet(sink)
    pyarrow.feather.write_feather(TABLE, arrow)
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("table.csv", CSV)
    TABLE.to_excel(book, index=False)
    zstandard: bytes = pa.compress(CSV, "zstd", asbytes=True)
    forms = [one.getvalue() for one in (sink, arrow, zipped, book)]
    packed = [gzip.compress(CSV, mtime=0), lzma.compress(CSV), zstandard]
    return [CSV, CSV.decode().encode("utf-16"), *forms, *packed]
