"""The words beside a number: graded by the interval, and never more than the evidence holds.

A verdict of the assessment goes by the estimate. The words here say where the interval lies, and
what an attack shows against its control (Newcombe's interval of the difference).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import fill
from evalkit.report.languages import notation
from evalkit.report.sentences import message_words
from evalkit.report.typography import agreed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.records import Result, Target
    from evalkit.report.words import Words

WEAKEST_DETECTABLE_SHARE: Final = 0.10
"""An attack that could miss an excess of ten points is too weak to tell."""
HIGHEST_SELF_SCORE: Final = 90.0
"""Where even a perfect copy scores over 90, the known variables cannot tell people apart."""
LONGEST_NAME: Final = 34
HIGHEST_ON_STRIP: Final = 100.0 + 1e-6
SAMPLING_METHODS: Final = frozenset(
    {"wilson", "redeal", "order statistics", "mean_wilson", "mover", "newcombe_area", "bootstrap"}
)
"""Only intervals from sampling grade a verdict; a range over splits does not."""
_SPACES: Final = re.compile(r"[ \t\r\n]+")
"""Spaces that may break; those of a number or a colon stay."""
NO_CONTROL_CODES: Final = frozenset({"holdout_differs", "persons_in_holdout"})
COMPARED: Final = frozenset({"excess", "no_evidence", "reverse", "too_weak"})
"""What an attack can show where it was compared with a control."""


def headline(result: Result) -> float | None:
    """Return the score that is printed and judged: the average over ties where there is one.

    Returns
    -------
    float or None
        None without a score.
    """
    expected = result.facts.get("expected_score")
    return expected if isinstance(expected, int | float) else result.score


def on_strip(result: Result) -> bool:
    """Return whether a result lies on the scale from 0 to 100, its known cases too.

    A count of avatars does not, nor a ratio that may be over 100.
    """
    cases = (result.facts.get(f"{name}_score") for name in ("self", "floor", "holdout", "real"))
    shown = [headline(result), *(result.interval or ()), *cases]
    fits = all(one is None or one <= HIGHEST_ON_STRIP for one in shown)
    return result.status == "measured" and result.unit == "%" and fits


def score_words(result: Result, words: Words) -> str:
    """Return the number that is printed, "84.6" or "11 avatars"; a dash without a score."""
    score = headline(result)
    forms = words["labels"]["units"].get(result.unit)
    return formats.score(score) if score is None or not forms else in_units(score, forms)


def interval_words(result: Result, words: Words) -> str:
    """Return the interval, without decimals where whole things are counted.

    What is not from sampling is called the range that it is.
    """
    ends = result.interval
    if ends is None or result.unit == "%" or any(end % 1 for end in ends):
        said = formats.interval(ends)
    else:
        said = formats.interval(ends, 0)
    if ends is None or sampling_interval(result):
        return said
    form = "range_over_repeats" if result.interval_method == "repeats" else "range_over_splits"
    return fill(words["verdicts"][form], interval=said)


def in_units(value: float, forms: Mapping[str, str]) -> str:
    """Return a count with its unit; `forms` holds the words for ``one`` and ``many``."""
    form = forms["one" if value == 1 else "many"]
    return fill(form, count=formats.number(value, 1 if value % 1 else 0))


def sampling_interval(result: Result) -> tuple[float, float] | None:
    """Return the interval if it comes from sampling; a range over splits is none."""
    return result.interval if result.interval_method in SAMPLING_METHODS else None


def reaches(target: Target, value: float) -> bool:
    """Return whether `value` is on the good side of the target."""
    if target.operator.startswith(">"):
        return value > target.value or (value == target.value and target.operator == ">=")
    return value < target.value or (value == target.value and target.operator == "<=")


def grade(result: Result) -> str:
    """Return the key of the words for a verdict, graded by the interval.

    Returns
    -------
    str
        A key of ``verdicts.yaml``, under ``grade``.
    """
    if result.status != "measured":
        return "not_measured"
    if result.verdict == "not applicable":
        return "not_judged"
    if result.target is None or result.verdict == "no target":
        return "no_target"
    interval = sampling_interval(result)
    target = result.target
    sides = {reaches(target, end) for end in interval} if interval else set()
    if result.verdict == "met":
        return "met_alone" if not sides else ("met_crosses" if False in sides else "met_whole")
    return "not_met_crosses" if True in sides else "not_met_whole"


def verdict_words(result: Result, words: Words) -> str:
    """Return the graded sentence of a result, with the reason where there is no verdict."""
    reason = sentence(message_words(result.reason, words))
    text = fill(words["verdicts"]["grade"][grade(result)], reason=reason)
    target = result.target
    if target is not None and target.definition in words["verdicts"]["definition"]:
        text = f"{text} {words['verdicts']['definition'][target.definition]}"
    return text.strip()


def attack_finding(result: Result) -> str | None:
    """Return what an attack shows against its control, as a key of ``verdicts.yaml``.

    Returns
    -------
    str or None
        ``excess``, ``reverse``, ``too_weak``, ``no_evidence``, ``no_control``;
        ``not_comparable`` where the control is not a sample of the same people; ``no_attack`` for
        distances; None where nothing was measured, for matches and for utility.
    """
    facts = result.facts
    if result.status != "measured" or result.section != "privacy":
        return None
    if result.basis != "attack":
        return "no_attack" if result.basis == "distances" else None
    if not _is_pair(facts.get("excess_interval")):
        return "no_control"
    if any(message.code in NO_CONTROL_CODES for message in result.warnings):
        return "not_comparable"
    return _beside_control(facts)


def _beside_control(facts: Mapping[str, Any]) -> str:
    """Return what the interval of the excess over a control of the same people says."""
    low, high = facts["excess_interval"]
    if low > 0:
        return "excess"
    if _too_weak(facts):
        return "too_weak"
    return "reverse" if high < 0 else "no_evidence"


def comparable(result: Result) -> bool:
    """Return whether the people of the control are a sample of the same people, as far as seen."""
    return attack_finding(result) != "not_comparable"


def attack_words(result: Result, words: Words, finding: str | None = None, attacks: int = 1) -> str:
    """Return the short sentence on an attack, or the empty text.

    Parameters
    ----------
    result : Result
    words : dict
        Words of the language.
    finding : str, optional
        What the attack shows among all of its scenario; default: by its own interval alone.
    attacks : int
        How many attacks of the scenario were compared with a control.
    """
    finding = finding or attack_finding(result)
    if finding is None:
        return ""
    finding = "excess_of_several" if finding == "excess" and attacks > 1 else finding
    low, high = result.facts.get("excess_interval") or (None, None)
    forms = words["verdicts"]["attack_short"]
    # Where the control stands in one pool with the data, luck is what an excess is set against.
    pooled = low is not None and result.facts.get("control_share") is None
    template = forms.get(f"{finding}_luck" if pooled else finding, forms[finding])
    ends = {"low": formats.points(low), "high": formats.points(high)}
    filled = fill(template, **ends, count=formats.count_word(attacks))
    return agreed(filled, notation().language)


def target_words(target: Target | None, date: str | None, words: Words, unit: str = "%") -> str:
    """Return "Target: at least 80; issuer, date", or that there is none; a count with its unit."""
    verdicts = words["verdicts"]
    if target is None:
        return str(verdicts["no_target"])
    form = "target" if not target.issuer else ("target_by_on" if date else "target_by")
    day = formats.date(date, short=True)
    aim = aim_words(target, words, unit)
    return fill(verdicts[form], aim=aim, issuer=target.issuer, date=day)


def aim_words(target: Target, words: Words, unit: str = "%") -> str:
    """Return "at least 80", or "over 5 avatars" where avatars are counted."""
    operator = words["verdicts"]["operators"].get(target.operator, target.operator)
    forms = words["labels"]["units"].get(unit)
    value = in_units(target.value, forms) if forms else formats.threshold(target.value)
    return f"{operator} {value}"


def basis_words(result: Result, words: Words, *, holdout_kind: str, row_link: bool) -> list[str]:
    """Return what kind of evidence a result is, and its worst part where there is one."""
    basis = words["verdicts"]["basis"]
    if result.basis == "comparison":
        kind = basis.get(f"comparison_{holdout_kind}", holdout_kind)
    elif result.basis == "attack" and _is_pair(result.facts.get("excess_interval")):
        kind = basis["attack_control"]
    else:
        kind = basis.get(result.basis, result.basis)
    parts = [kind]
    if result.basis == "distances" and row_link:
        parts.append(basis["row_link"])
    worst = worst_pair(result.facts)
    if worst:
        names = {key: shortened(str(worst[key]), LONGEST_NAME) for key in ("first", "second")}
        parts.append(fill(basis["worst_pair"], **names))
    return parts


def worst_pair(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the pair of variables that changed most, or None."""
    pairs = facts.get("worst_pairs")
    return dict(pairs[0]) if isinstance(pairs, list) and pairs else None


def joined(names: Sequence[str], words: Words) -> str:
    """Return names as a list in words: "a, b and c"."""
    if len(names) < 2:  # noqa: PLR2004 - one name needs no "and"
        return "".join(names)
    first = ", ".join(names[:-1])
    return fill(words["labels"]["and"], first=first, last=names[-1])


def capitalised(text: str) -> str:
    """Return `text` with a capital first: words of ours, no name of a column.

    Examples
    --------
    >>> capitalised("inference, membership")
    'Inference, membership'
    """
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return `text` as a sentence: a full stop last, a capital first unless a name begins it."""
    text = text.strip()
    if not text:
        return ""
    stop = "" if text[-1] in ".!?…" else "."
    begins_with_word = text.split(maxsplit=1)[0].isalpha()
    return (text[0].upper() + text[1:] if begins_with_word else text) + stop


def in_sentence(name: str) -> str:
    """Return a name as it stands inside a sentence: only its first letter is made small."""
    return name[:1].lower() + name[1:]


def shortened(text: str, longest: int) -> str:
    """Return `text` cut at a word so that it has at most `longest` characters."""
    text = _SPACES.sub(" ", text).strip()
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut).rstrip(" ,;:") + "…"


def _too_weak(facts: Mapping[str, Any]) -> bool:
    naive, self_score = facts.get("naive_share"), facts.get("self_score")
    detectable = facts.get("detectable_excess")
    shares = [facts.get("success_share"), facts.get("control_share")]
    no_better = naive is not None and all(one is not None and one <= naive for one in shares)
    blunt = self_score is not None and self_score > HIGHEST_SELF_SCORE
    return no_better or blunt or (detectable is not None and detectable > WEAKEST_DETECTABLE_SHARE)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2  # noqa: PLR2004 - low and high
