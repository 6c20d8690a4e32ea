"""Write the JSON Schema of assessment.json from the records it is made of."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "evalkit" / "assessment.schema.json"


def json_schema() -> bytes:
    """Return the schema as indented JSON, the same bytes for the same records."""
    sys.path.insert(0, str(ROOT))
    from evalkit.records import Assessment

    schema = msgspec.json.schema(Assessment)
    named = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Assessment written by evalkit",
        **schema,
    }
    return msgspec.json.format(msgspec.json.encode(named), indent=1) + b"\n"


if __name__ == "__main__":
    TARGET.write_bytes(json_schema())
    print(f"wrote {TARGET.relative_to(ROOT)}")
