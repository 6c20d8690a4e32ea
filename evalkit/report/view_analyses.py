"""The end of section 12: whether the user's own analyses say the same on the avatars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from evalkit.report import formats
from evalkit.report.blocks import figure, fill, heading, measure, prose, table, text
from evalkit.report.languages import notation
from evalkit.report.pictures import drawn_pair
from evalkit.report.wording import sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalkit.records import AnalysisRecord, AnalysisTerm, Estimate
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

LONGEST_NAME: Final = 60
LONGEST_FORMULA: Final = 300
LONGEST_TERM: Final = 70
RARE: Final = "(other)"
"""What the record calls rare levels taken together."""
ROWS_SHOWN: Final = 40
TERMS_DRAWN: Final = 14
_WIDTHS: Final = (40, 27, 27, 27, 21, 25)
_OWN_NOTES: Final = "analysis_"
"""How the codes of notes on one analysis begin; others are about the tables."""


def analyses_blocks(subject: Subject, labels: Iterator[str]) -> list[Block]:
    """Return the part on the user's analyses; nothing where none was asked for.

    Parameters
    ----------
    subject : Subject
    labels : iterator of str
        "Figure 1." and so on.

    Returns
    -------
    list of dict
    """
    analyses = subject.assessment.analyses
    if not analyses:
        return []
    words = subject.words["analyses"]
    blocks = [measure(words["kicker"], _title(analyses, words), new_page=True)]
    blocks += [text(prose(one)) for one in words["intro"]]
    if subject.assessment.release.holdout_kind != "real":
        blocks.append(text(words["approximate"]))
    of_tables = {
        note.code: note
        for one in analyses
        for note in one.warnings
        if not note.code.startswith(_OWN_NOTES)
    }
    said = [subject.say(note) for note in of_tables.values()]
    blocks += [text(prose(words["of_tables"], note=one)) for one in said]
    for place, one in enumerate(analyses):
        blocks += _analysis(one, f"analysis{place}", subject, labels)
    return blocks


def _title(analyses: Sequence[AnalysisRecord], words: dict[str, Any]) -> str:
    """Return the finding over all analyses."""
    terms = [term for one in analyses for term in one.terms if term.same_finding is not None]
    held = sum(bool(term.same_finding) for term in terms)
    if not terms:
        return str(words["title_none"])
    key = "title_all" if held == len(terms) else "title_some"
    return fill(words[key], held=held, count=len(terms))


def _analysis(
    one: AnalysisRecord, prefix: str, subject: Subject, labels: Iterator[str]
) -> list[Block]:
    """Return one analysis: what was done, what holds, a figure and a table."""
    words = subject.words["analyses"]
    blocks = [heading(shortened(one.name, LONGEST_NAME)), text(_what(one, words))]
    if one.status != "measured":
        reason = sentence(subject.say(one.reason))
        blocks.append(text(prose(words["not_measured"], reason=reason)))
    else:
        blocks.append(text(_finding(one, words)))
        drawn = [term for term in one.terms if term.original is not None][:TERMS_DRAWN]
        picture = _picture(drawn, prefix, subject)
        caption = prose(
            f"{next(labels)} {words['caption']}", inline=True, finding=_told(one, words)
        )
        blocks.append(figure([picture], [caption], full_width=False))
        rows = [_row(term, words) for term in one.terms[:ROWS_SHOWN]]
        count = len(one.terms)
        cut = fill(words["terms_cut"], shown=ROWS_SHOWN, count=count) if count > ROWS_SHOWN else ""
        blocks.append(table(words["head"], _WIDTHS, rows, caption=cut))
    own = [subject.say(note) for note in one.warnings if note.code.startswith(_OWN_NOTES)]
    if own:
        said = " ".join(sentence(note) for note in own)
        blocks.append(text(prose(words["notes"], notes=said)))
    return blocks


def _what(one: AnalysisRecord, words: dict[str, Any]) -> Any:
    """Return what was done, on how many rows."""
    rows: dict[str, Any] = {
        role: formats.number(one.rows[role]) if role in one.rows else formats.NO_VALUE
        for role in ("original", "avatars", "holdout")
    }
    kind = words["kinds"].get(one.kind, one.kind)
    formula = shortened(one.formula, LONGEST_FORMULA)
    return prose(words["what"], kind=kind, formula=formula, **rows)


def _finding(one: AnalysisRecord, words: dict[str, Any]) -> str:
    """Return how many findings hold among the avatars, and beside the holdout."""
    forms = words["finding"]
    pairs = [(bool(t.same_finding), t.overlap) for t in one.terms if t.same_finding is not None]
    beside = [
        (bool(t.holdout_same_finding), t.holdout_overlap)
        for t in one.terms
        if t.holdout_same_finding is not None
    ]
    if not pairs:
        return str(words["not_compared"])
    held = sum(same for same, _ in pairs)
    if len(pairs) == 1:
        key = "one" if held else "none_of_one"
    else:
        key = "all" if held == len(pairs) else "some"
    said = fill(forms[key], count=len(pairs), held=held, overlap=_mean(pairs))
    if not beside:
        return f"{said} {words['no_holdout']}"
    same = sum(same for same, _ in beside)
    other = fill(words["holdout"], count=len(beside), held=same, overlap=_mean(beside))
    return f"{said} {other}"


def _mean(pairs: Sequence[tuple[bool, float | None]]) -> str:
    """Return the mean overlap with two decimals."""
    overlaps = [overlap or 0.0 for _, overlap in pairs]
    return formats.number(sum(overlaps) / len(overlaps), 2)


def _told(one: AnalysisRecord, words: dict[str, Any]) -> str:
    """Return the finding of the figure: the first term on which the tables differ."""
    other = [term.name for term in one.terms if term.same_finding is False]
    if not other:
        return str(words["caption_all"])
    return fill(words["caption_some"], term=shortened(_named(other[0], words), LONGEST_NAME))


def _named(name: str, words: dict[str, Any]) -> str:
    """Return the name of a term with its one word in the report's language."""
    return name.replace(RARE, words["other"])


def _picture(terms: Sequence[AnalysisTerm], prefix: str, subject: Subject) -> Any:
    """Return the drawing of the terms, wide and narrow."""
    from evalkit.figures import coefficients

    words, own = subject.words.get("figures", {}), subject.words["analyses"]
    plain_terms = [msgspec.to_builtins(one) | {"name": _named(one.name, own)} for one in terms]
    wide, narrow = (coefficients(plain_terms, narrow=one, words=words) for one in (False, True))
    return drawn_pair(wide, narrow, f"f-{prefix}")


def _row(term: AnalysisTerm, words: dict[str, Any]) -> Sequence[Any]:
    """Return one row of the table."""
    overlap = formats.number(term.overlap, 2)
    beside = term.holdout_overlap
    second = fill(words["holdout_overlap"], overlap=formats.number(beside, 2))
    return (
        shortened(_named(term.name, words), LONGEST_TERM),
        *(_estimate(one, words) for one in (term.original, term.avatars, term.holdout)),
        (overlap, second) if beside is not None else overlap,
        _compared(term, words),
    )


def _estimate(one: Estimate | None, words: dict[str, Any]) -> Any:
    """Return an estimate with its interval below."""
    if one is None:
        return formats.NO_VALUE
    low, high = _short(one.low), _short(one.high)
    return (_short(one.value), fill(words["interval"], low=low, high=high))


def _short(value: float) -> str:
    """Return a coefficient in three significant digits, a long one with an exponent."""
    return f"{value:.3g}".replace("-", formats.MINUS).replace(".", notation().decimal)


def _compared(term: AnalysisTerm, words: dict[str, Any]) -> str:
    """Return whether the avatars say the same, or what differs."""
    if term.same_finding is None or term.original is None or term.avatars is None:
        return str(words["not_compared"])
    if term.same_finding:
        return str(words["same"])
    clear = [one.low > 0 or one.high < 0 for one in (term.original, term.avatars)]
    if all(clear):
        return str(words["other_sign"])
    return str(words["other_zero_in_avatars" if clear[0] else "other_zero_in_originals"])
