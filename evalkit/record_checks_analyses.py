"""What the types of the records cannot say of the user's own analyses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalkit.record_parts import AnalysisRecord, AnalysisTerm

_KINDS: Final = ("linear", "logistic", "cox", "groups")
_STATUSES: Final = ("measured", "not applicable")
_TABLES: Final = ("original", "avatars", "holdout")
_MOST_ANALYSES: Final = 50
"""As many as `evalkit.analyses` makes; a report of thousands would not end."""
_LARGEST_COUNT: Final = 1e12


def analyses(records: Sequence[AnalysisRecord]) -> Iterator[tuple[str, str]]:
    """Return each field of the user's analyses that no run can have produced, with what is wrong.

    Parameters
    ----------
    records : sequence of AnalysisRecord
        As read back from a file.

    Yields
    ------
    field, trouble : str
        Nothing is yielded where all is well.

    Examples
    --------
    >>> from evalkit.record_checks_analyses import analyses
    >>> from evalkit.record_parts import AnalysisRecord
    >>> one = {"name": "A", "kind": "magic", "formula": "", "status": "not applicable"}
    >>> list(analyses([AnalysisRecord(**one, reason=None, rows={}, terms=[])]))
    [('analyses[0].kind', "is none of 'linear', 'logistic', 'cox', 'groups'")]
    """
    if len(records) > _MOST_ANALYSES:
        yield "analyses", f"holds more than {_MOST_ANALYSES}"
        return
    for place, record in enumerate(records):
        yield from ((f"analyses[{place}].{key}", why) for key, why in _analysis(record))


def _analysis(record: AnalysisRecord) -> Iterator[tuple[str, str]]:
    """Check the words and counts of one analysis, then its terms."""
    for key, allowed in (("kind", _KINDS), ("status", _STATUSES)):
        if getattr(record, key) not in allowed:
            yield key, f"is none of {', '.join(map(repr, allowed))}"
    for table, count in record.rows.items():
        if table not in _TABLES or not 0 <= count <= _LARGEST_COUNT:
            yield "rows", "is no count of at least 0 of originals, avatars or holdout"
    if (record.status == "measured") != bool(record.terms):
        yield "terms", "must be there if it was measured, and only then"
    for place, term in enumerate(record.terms):
        yield from ((f"terms[{place}].{key}", why) for key, why in _term(term))


def _term(term: AnalysisTerm) -> Iterator[tuple[str, str]]:
    """Check that intervals hold their estimates, and that shares are shares."""
    for key in _TABLES:
        one = getattr(term, key)
        if one is None:
            continue
        if not one.low <= one.value <= one.high:
            yield key, "lies outside its own interval"
        if one.p_value is not None and not 0 <= one.p_value <= 1:
            yield f"{key}.p_value", "is no share from 0 to 1"
    for key in ("overlap", "holdout_overlap"):
        share = getattr(term, key)
        if share is not None and not 0 <= share <= 1:
            yield key, "is no share from 0 to 1"
