"""Hostile inputs for a time: whatever is read, an error is one clear line and nothing else.

    python tools/fuzz.py MINUTES [TARGET ...]

Each input is made from a seed of ``tests/fuzz_corpus`` by a few edits. The first input that breaks
something is made as small as can be, written to ``fuzz_failures`` and named; the exit code is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzz_targets import TARGETS, check, seeds  # noqa: E402 - found by the path above
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

LONGEST_SECONDS = 60
EXAMPLES = 100
TOKENS = {
    "read": [
        b",", b";", b"\t", b"|", b'"', b'""', b"\n", b"\r\n", b"\r", b"\0", b"\xef\xbb\xbf", b"#",
        b"NA", b"inf", b"nan", b"1e999", b"-0", b"1.234,5", b"%", "€".encode(), b"9" * 19,
        b"9" * 400, b"007", b"true", b"2021-02-30", b"31/12/21", b"24:00", b"P1DT2H", b"0000-01-01",
        b"-1 days +23:00:00", b"9999999 days 999999:59:59", b"9999-12-31T23:59:59-9959",
        "١٢".encode(), "\u2028".encode(), "\ufeff".encode(), b"\xff", b"\xed\xa0\x80", b"sep=;\n",
    ],
    "schema": [
        b"columns:", b"rules:", b"{", b"}", b"[", b"]", b": ", b"- ", b"&a ", b"*a", b"!!int ",
        b"!!binary ", b"? ", b"<<: ", b"type", b"use", b"true", b"1e999", b"0x1F", b".nan", b"|\n",
        b"2021-01-01", b"190:20:30", b"%YAML 9.9\n", b"---\n", b"...\n", b"\0", b"\x85", b"\xff",
    ],
    "rule": [
        b"(", b")", b" and ", b" or ", b" not ", b" in ", b"[", b"]", b",", b"==", b"<=", b"!=",
        b"+", b"-", b"*", b"/", b"1e999", b"'x'", b'"a b"', b"`b`", b"missing(", b"a", b"b", b"d",
        b"2021-01-01", b"0", b"if ", b" then ", b"\0", b"\n", b"((((((((", b"- - - -", b"9" * 400,
    ],
    "record": [],
    "template": [
        b"{{", b"}}", b"{%", b"%}", b"{#", b"if ", b"for x in ", b"endfor", b"endif", b"set x = ",
        b"include 'style.css'", b"facts", b"result", b"words", b".__class__", b"|number", b"|date",
        b"**", b"10**9", b"~", b"'x'", b"[", b"]", b"(", b")", b"![a](b)", b"<b>", b"| a | b |\n",
        b"|attr('x')", b"range(10**9)", b"\0", b"\xff", b"# ", b"```\n", b"namespace()", b"loop",
        b"macro m()", b"call ", b"filter ", b"import ", b"extends ", b"self.", b"caller()",
    ],
}  # fmt: skip
LEAVES = [
    None, True, -1, 0, 1e308, -1e-308, 2**63, 10**400, "", "<script>x</script>", "\u2028\ud7ff",
    "x" * 5000, [], {}, [[]], {"": None}, "NaN", ["a"], "none", 101.5, "2021-02-30T00:00:00Z",
]  # fmt: skip


@st.composite
def edited(draw: Any, target: str, found: list[bytes]) -> bytes:
    """Return a seed after a few edits of its bytes."""
    content = draw(st.sampled_from(found))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 40)))
        part = draw(
            st.one_of(
                st.sampled_from([b"", *TOKENS[target]]),
                st.binary(max_size=4),
                st.just(content[start:end] * 3),
            )
        )
        content = content[:start] + part + content[end:]
    return content


@st.composite
def edited_record(draw: Any, found: list[bytes]) -> bytes:
    """Return an assessment in which some values are others, or a value is gone."""
    content = json.loads(draw(st.sampled_from(found)))
    for _ in range(draw(st.integers(0, 4))):
        place: Any = content
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.integers(0, 3)):
                place = place[key]
                continue
            if draw(st.integers(0, 5)) == 0:
                del place[key]
            else:
                place[key] = draw(st.sampled_from(LEAVES))
            break
    return json.dumps(content).encode()


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """Return the inputs of a target."""
    found = seeds(target)
    if target != "record":
        return edited(target, found)
    readable = [one for one in found if one.startswith(b"{") and one.endswith(b"}")]
    return st.one_of(edited_record(readable), edited(target, found))


def too_long(*_: object) -> None:
    """End an input that takes too long: that is a fault too."""
    raise TimeoutError(f"over {LONGEST_SECONDS} seconds")


def round_of(target: str, number: int, end: float) -> None:
    """Give a target one round of inputs, or fewer when the time is up."""
    last: list[bytes] = []

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(target))
    def one(content: bytes) -> None:
        if time.monotonic() > end:
            return
        last[:] = [content]
        with tempfile.TemporaryDirectory(prefix="evalkit-") as folder:
            signal.alarm(LONGEST_SECONDS)
            try:
                check(target, content, Path(folder))
            finally:
                signal.alarm(0)
        counts[target] += 1

    try:
        one()
    except BaseException:
        keep(target, last[0])
        raise


def keep(target: str, content: bytes) -> None:
    """Write an input that broke something."""
    path = Path("fuzz_failures") / target / hashlib.sha256(content).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    print(f"{target}: broken by {path}", file=sys.stderr)


counts = dict.fromkeys(TARGETS, 0)


def main() -> int:
    """Run rounds of all targets in turn until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    given_ = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    end, number = time.monotonic() + 60 * given_.minutes, given_.seed
    while time.monotonic() < end:
        for target in given_.targets or TARGETS:
            round_of(target, number, end)
        number += 1
    print(", ".join(f"{target} {count:,}" for target, count in counts.items()), "inputs, no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main())
