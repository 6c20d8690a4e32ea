"""Every language says the same: the same words, the same branches, the same values."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, nodes

from evalkit import resources
from evalkit.figures import ENGLISH
from evalkit.messages import say
from evalkit.prose.formula import equations
from evalkit.report import formats
from evalkit.report.languages import NOTATIONS, written_in
from evalkit.report.sentences import message_words
from evalkit.report.typography import agreed, typeset
from evalkit.report.words import load_words

TEMPLATES = resources.folder("report_templates")
WORDS = TEMPLATES / "technical_assessment"
PACKAGE = Path(resources.__file__).parent
OTHERS = sorted({*resources.LANGUAGES} - {"en"})
OF_THEIR_OWN = {"messages.yaml", "figures.yaml"}
"""English has these words in the code."""
PLACEHOLDER = re.compile(r"\{(\w+)(?::[^}]*)?\}")
FORBIDDEN = re.compile(
    r"\banonymes?\b|anonymisées? (?:par|avec)|sans risque|\bgarantis?\b|\bconformes?\b"
    r"|validée? par la CNIL|non réidentifiables?|\bcertifié|\bsûres?\b|\bsécurisé"
    r"|avatars anonymisés|données anonymisées|\bsignificati",
    re.IGNORECASE,
)
"""What report.md forbids as a finding, in French."""
PAGES = sorted(
    path for language in OTHERS for path in (TEMPLATES / "metrics").glob(f"*/{language}.md")
)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def shape(words: Any) -> Any:
    """Return keys, lengths and placeholders of words, without the words."""
    if isinstance(words, dict):
        return {str(key): shape(value) for key, value in words.items()}
    if isinstance(words, list):
        return [shape(one) for one in words]
    return sorted(set(PLACEHOLDER.findall(str(words))))


@pytest.mark.parametrize("language", OTHERS)
def test_every_file_of_words_exists_in_every_language(language: str) -> None:
    names = {path.name for path in (WORDS / language).glob("*.yaml")}
    assert names - OF_THEIR_OWN == {path.name for path in (WORDS / "en").glob("*.yaml")}
    assert names >= OF_THEIR_OWN


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", sorted((WORDS / "en").glob("*.yaml")), ids=lambda one: one.stem)
def test_words_have_the_same_keys_and_placeholders_in_every_language(
    path: Path, language: str
) -> None:
    english, other = (shape(read(WORDS / one / path.name)) for one in ("en", language))
    if path.name == "verdicts.yaml":  # There is no room for the number of scenarios.
        assert other.pop("in_scenario") == ["scenario"]
        english.pop("in_scenario")
    if path.name == "texts.yaml":  # A language may explain words that another does not need.
        english.pop("glossary"), other.pop("glossary")
    assert other == english


@pytest.mark.parametrize("language", OTHERS)
def test_the_words_of_the_figures_are_complete(language: str) -> None:
    words = read(WORDS / language / "figures.yaml")
    assert {key: shape(one) for key, one in words.items()} == {
        key: shape(one) for key, one in ENGLISH.items()
    }


def said() -> dict[str, dict[str, set[str]]]:
    """Return what `say` is called with anywhere: code, variant, names that its sentence may use."""
    found: dict[str, dict[str, set[str]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            texts = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            for call in calls_of_say(function):
                code, variants, names = code_and_names(call, function)
                names |= {name for text in texts for name in PLACEHOLDER.findall(text)}
                for one in code:
                    for variant in variants:
                        found.setdefault(one, {}).setdefault(variant, set()).update(names)
    return found


def calls_of_say(function: ast.FunctionDef) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say"
    ]


def code_and_names(
    call: ast.Call, function: ast.FunctionDef
) -> tuple[list[str], list[str], set[str]]:
    """Return the codes, the variants and the names of the values of one call."""
    first = call.args[0]
    codes = literals(first, function) or looped_codes(function)
    assert codes, f"{function.name}: which code does say() have?"
    names = {one.arg for one in call.keywords if one.arg}
    variant = next((one.value for one in call.keywords if one.arg == "variant"), None)
    variants = ["default"] if variant is None else literals(variant, function)
    return codes, variants, names


def literals(node: ast.expr, function: ast.FunctionDef) -> list[str]:
    """Return the texts that an expression can be: itself, either branch, or what was assigned."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if ast.unparse(node) == "release.holdout_kind":
        return ["real", "approximate"]
    if isinstance(node, ast.IfExp):
        return [*literals(node.body, function), *literals(node.orelse, function)]
    return [
        text
        for one in ast.walk(function)
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == ast.unparse(node)
        for text in literals(one.value, function)
    ]


def looped_codes(function: ast.FunctionDef) -> list[str]:
    """Return the codes of a loop over rows that each begin with one."""
    return [
        row.elts[0].value
        for loop in ast.walk(function)
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Tuple)
        for row in loop.iter.elts
        if isinstance(row, ast.Tuple)
        and isinstance(row.elts[0], ast.Constant)
        and isinstance(row.elts[0].value, str)
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_has_a_sentence_with_no_other_values(language: str) -> None:
    sentences = read(WORDS / language / "messages.yaml")["sentences"]
    calls = said()
    assert len(calls) > 50
    missing = sorted(calls.keys() - sentences.keys())
    assert not missing, f"codes without a sentence in {language}: {missing}"
    assert not sorted(sentences.keys() - calls.keys())
    for code, variants in calls.items():
        forms = sentences[code]
        forms = forms if isinstance(forms, dict) else dict.fromkeys(variants, forms)
        assert set(forms) == set(variants), code
        for variant, names in variants.items():
            assert set(PLACEHOLDER.findall(forms[variant])) <= names, code


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_page_has_the_conditions_and_the_values_of_the_english_one(path: Path) -> None:
    english, other = (branches(one) for one in (path.with_name("en.md"), path))
    assert other == english


def branches(path: Path) -> list[str]:
    """Return headings, conditions, assignments and values of a page in their order."""
    source = path.read_text(encoding="utf-8")
    marks = re.compile(r"^#{2,3} .+$|\{[%{](?:.|\n)*?[%}]\}", re.MULTILINE)
    return [
        # Words that a page keeps for later, or prints for what is missing, are no condition.
        re.sub(r'"[^"]*"', '"…"', mark)
        if mark.startswith("{{")
        else re.sub(r'"[^"]* [^"]*"', '"…"', mark)
        if mark.startswith("{% set")
        else mark
        for mark in (re.sub(r"\s+", " ", one) for one in marks.findall(source))
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_page_says_no_forbidden_word_and_leaves_its_spaces_to_the_typesetter(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert FORBIDDEN.search(source) is None
    assert not [mark for mark in "\u202f\u00a0\u2019\u201c\u201d" if mark in source]
    for line in source.splitlines():
        words = re.sub(r"\{[%{].*?[%}]\}|`[^`]*`", "x", line)
        assert re.search(r"[^\s«(|:-][;!?%»]|[^\s|:-]:(?=\s|$)|«\S", words) is None, line


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", sorted((TEMPLATES / "metrics").glob("*/formula.typ")), ids=str)
def test_every_formula_has_its_words_in_every_language(path: Path, language: str) -> None:
    source = path.read_text(encoding="utf-8")
    other, english = (equations(source, one) for one in (language, "en"))
    assert len(other) == len(english)
    assert not [one.alt for one, same in zip(other, english, strict=True) if one.alt == same.alt]


def test_the_words_of_a_language_say_nothing_that_is_forbidden() -> None:
    for language in OTHERS:
        for path in (WORDS / language).glob("*.yaml"):
            for text in texts(read(path)):
                assert FORBIDDEN.search(text) is None, text


def texts(words: Any) -> list[str]:
    if isinstance(words, dict):
        return [text for one in words.values() for text in texts(one)]
    if isinstance(words, list):
        return [text for one in words for text in texts(one)]
    return [str(words)]


def test_numbers_and_dates_are_written_as_in_french() -> None:
    with written_in("fr"):
        assert formats.number(4812) == "4\u202f812"
        assert formats.number(-0.7081) == "\u22120,71"
        assert formats.share(0.154) == "15,4\u202f%"
        assert formats.interval([83.6, 85.61]) == "83,6 à 85,6"
        assert formats.threshold(0.09) == "0,09"
        assert formats.date("2026-11-29T19:00:00Z") == "29\u00a0novembre\u00a02026"
        assert formats.date("2026-11-03", short=True) == "3\u00a0nov.\u00a02026"
        assert formats.date("2026-12-01") == "1er\u00a0décembre\u00a02026"
        assert formats.count_word(3) == "trois"
        assert formats.listed(["a", "b"]) == "a\u202f; b"
    assert formats.number(4812) == "4,812"


def test_each_notation_has_every_month_and_count() -> None:
    for notation in NOTATIONS.values():
        assert len(notation.months) == len(notation.short_months) == 12
        assert len(notation.counts) == 13


@pytest.mark.parametrize(
    ("plain", "set_in_french"),
    [
        ("l'avatar d'une personne", "l\u2019avatar d\u2019une personne"),
        ("vrai ? non ; oui !", "vrai\u202f? non\u202f; oui\u202f!"),
        ("un seuil : 80 %.", "un seuil\u00a0: 80\u202f%."),
        ("dit « rien » ici", "dit «\u202frien\u202f» ici"),
        ("sur 2 000 lignes", "sur 2\u202f000 lignes"),
        ("le 10 avril 2014.", "le 10\u00a0avril\u00a02014."),
        ("`a ? b : l'c`", "`a ? b : l'c`"),
        ("| :--- | ---: |", "| :--- | ---: |"),
        ("d'{name} : \ue0003\ue001 %", "d\u2019{name}\u00a0: \ue0003\ue001\u202f%"),
        ("--missing '{mark}'.", "--missing '{mark}'."),
    ],
)
def test_spaces_and_apostrophes_are_those_of_french_typography(
    plain: str, set_in_french: str
) -> None:
    assert typeset(plain, "fr") == set_in_french
    assert typeset(set_in_french, "fr") == set_in_french


def test_a_count_under_two_is_singular_in_french() -> None:
    assert agreed("de 0,4 à 1,9 points", "fr") == "de 0,4 à 1,9 point"
    assert agreed("\ue0000\ue001 points", "fr", ["0,4"]) == "\ue0000\ue001 point"
    assert agreed("11,4 points, 2\u202f000,0 points", "fr") == "11,4 points, 2\u202f000,0 points"
    assert agreed("0.4 points", "en") == "0.4 points"


def test_the_values_of_a_message_are_written_as_in_french_and_names_stay_as_they_are() -> None:
    words = load_words("fr")
    note = say("blank_cells", "Column {column}: {cells:,} cells.", column="a : b ; c", cells=4812)
    with written_in("fr"):
        assert message_words(note, words).startswith("Colonne a : b ; c\u00a0: 4\u202f812 cellules")
        shares = {"a.csv": 12.34, "original": 0.0}
        differ = say("missing_differs", "{column} {shares}", column="x", shares=shares)
        assert "(a.csv 12,3\u202f%, originaux 0,0\u202f%)" in message_words(differ, words)
        counted = say("infinite", "{column} {counts}", column="x", counts={"a.csv": 3})
        assert "(3 dans a.csv)" in message_words(counted, words)
        assert counted.text == "x 3 in a.csv"
    unknown = say("of_another_version", "Something else.")
    assert message_words(unknown, words) == "Something else."
    assert message_words(None, words) == ""


def test_a_page_is_parsed_by_the_engine_in_every_language() -> None:
    for path in PAGES:
        tree = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
        assert list(tree.find_all(nodes.Output))


def test_a_users_french_words_take_the_place_of_ours_and_are_typeset(tmp_path: Path) -> None:
    place = tmp_path / "technical_assessment" / "fr"
    place.mkdir(parents=True)
    (place / "labels.yaml").write_text('not_tested: "Rien d\'autre : à voir"\n', encoding="utf-8")
    words = load_words("fr", tmp_path)["labels"]
    assert words["not_tested"] == "Rien d\u2019autre\u00a0: à voir"
    assert words["of"] == "sur"
