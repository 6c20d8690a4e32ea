"""Page 1 answers a new reader's six questions, each within a few lines of its heading."""

from __future__ import annotations

import re
from functools import cache

import pypdfium2
import pytest
from sample_assessment import sample

from evalkit.report.document import Report
from evalkit.resources import LANGUAGES

QUESTIONS = {
    "en": {
        "the verdict on linkability, and who set its bar": r"Linkability .{0,200}84\.6 83\.6 to "
        r"85\.6 .{0,160}Target met, the whole interval "
        r"included\. Target: at least 80; data controller, 3 Nov 2026",
        "whether the control is real": r"Control real holdout, 1,204 rows; how set "
        r"aside is not declared",
        "what was not tested": r"Not tested .*Singling out, inference and membership: no measure "
        r"was run\. .*Column “remarks” was left out",
        "the recipient": r"Recipient university team, under contract",
        "the worst variable": r"hba1c × ldl changed most, from 0\.87 to 0\.68",
        "the hash of the avatars": r"Avatars avatars_2026-11\.csv, SHA-256 [0-9a-f]{8}",
    },
    "fr": {
        "the verdict on linkability, and who set its bar": r"Corrélation \(au sens du G29\) "
        r".{0,200}84,6 83,6 à 85,6 .{0,160}Seuil atteint, intervalle compris\. "
        r"Seuil : au moins 80 ; data controller, 3 nov\. 2026",
        "whether the control is real": r"Témoin réel, 1 204 lignes ; mise de côté non déclarée",
        "what was not tested": r"Non testé .*Individualisation, inférence et appartenance : "
        r"aucun indicateur calculé\. .*La colonne « remarks », écartée",
        "the recipient": r"Destinataire university team, under contract",
        "the worst variable": r"hba1c × ldl a le plus changé, de 0,87 à 0,68",
        "the hash of the avatars": r"Avatars avatars_2026-11\.csv, SHA-256 [0-9a-f]{8}",
    },
}


@cache
def first_page(language: str) -> str:
    with pypdfium2.PdfDocument(Report(sample(), language).pdf()) as document:
        text = document[0].get_textpage().get_text_bounded()
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_asked_the_same_questions(language: str) -> None:
    assert QUESTIONS[language].keys() == QUESTIONS["en"].keys()


@pytest.mark.parametrize(
    ("language", "question"),
    [(language, question) for language in LANGUAGES for question in QUESTIONS["en"]],
)
def test_page_one_answers(language: str, question: str) -> None:
    assert re.search(QUESTIONS[language][question], first_page(language)), first_page(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_one_is_one_page_and_does_not_decide(language: str) -> None:
    fixed = {
        "en": "This report supports a decision, it does not take it.",
        "fr": "Ce rapport éclaire une décision, il ne la prend pas.",
    }
    assert fixed[language] in first_page(language)
