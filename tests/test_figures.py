"""The drawings: deterministic, harmless, of natural size, and dressed for both outputs."""

from __future__ import annotations

import copy
import itertools
import re
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from evalkit import figures
from evalkit.figures.curve import score_scale, shown_counts
from evalkit.figures.labels import LINE_HEIGHT, Label, spread
from evalkit.figures.lettering import plain, shortened, width_pt, wrapped
from evalkit.figures.style import DARK, HEAT_SERIES, HEAT_TOP_STEP, LIGHT, heat
from evalkit.figures.words import written

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = [
    "$x$ <b>&amp;",
    "年齢 の 列",
    "عمر المريض",
    "גיל",
    "😀 mood",
    "quote \" and ' and \\",
    "line\nbreak\tand\x00control\ud800",
    "a_very_long_name_of_a_column_measured_at_the_first_visit_of_the_baseline_1",
    "W" * 500,
    "{curly} %s {0}",
    "]]> <script>alert(1)</script>",
    "",
]
LEVELS = [[round(1 - 0.16 * abs(i - j), 2) for j in range(12)] for i in range(12)]
SHIFTED = [
    [None if i + j == 3 else round(0.8 * v, 2) for j, v in enumerate(r)]
    for i, r in enumerate(LEVELS)
]
PAIRS = [
    {"first": a, "second": b, "working": 0.87, "avatars": -0.68, "holdout": None, "change": -1.55}
    for a, b in zip(NAMES[:10], NAMES[2:], strict=True)
]
POINTS: list[dict[str, Any]] = [
    {"known": 2, "score": 97.1, "low": 95.9, "high": 98.3, "holdout": 97.3, "floor": 99.9},
    {"known": 6, "score": 90.2, "low": 86.6, "high": 93.6, "holdout": 91.6, "floor": 99.8},
    {"known": 12, "score": 84.6, "low": 81.9, "high": 88.0, "holdout": 87.2, "floor": 99.6},
]
ATTACK = {
    "name": "$x$ <b> 年齢",
    "success": 0.154,
    "success_interval": (0.144, 0.164),
    "control": 0.128,
    "control_interval": (0.11, 0.148),
    "naive": 0.004,
}
TARGET = figures.Target(">=", 80.0)


def squares(narrow: bool, words: dict[str, str], place: int) -> figures.Drawing:
    matrices = (LEVELS, SHIFTED, LEVELS)
    return figures.heat_pair(NAMES, matrices, narrow=narrow, words=words)[place]


MANY = [NAMES[place % 12] + str(place) for place in range(20)]
WAVES = [[round(0.9 - 0.09 * abs(i - j), 2) for j in range(20)] for i in range(20)]


def matrices(narrow: bool, words: dict[str, str], place: int) -> figures.Drawing:
    turned = [[-0.5 * value for value in row] for row in WAVES]
    return figures.matrix_pair(MANY, (WAVES, turned, WAVES), narrow=narrow, words=words)[place]


BUILDERS: dict[str, Callable[[bool, dict[str, str]], figures.Drawing]] = {
    "curve": lambda narrow, words: figures.curve(
        POINTS, total=12, target=TARGET, narrow=narrow, words=words
    ),
    "levels": lambda narrow, words: squares(narrow, words, 0),
    "changes": lambda narrow, words: squares(narrow, words, 1),
    "many_levels": lambda narrow, words: matrices(narrow, words, 0),
    "many_changes": lambda narrow, words: matrices(narrow, words, 1),
    "worst_pairs": lambda narrow, words: figures.worst_pairs(PAIRS, narrow=narrow, words=words),
    "attacks": lambda narrow, words: figures.interval_dots([ATTACK], narrow=narrow, words=words),
}
KINDS = list(BUILDERS)


def new_drawing(
    kind: str, *, narrow: bool = False, words: dict[str, str] | None = None
) -> figures.Drawing:
    """Return a drawing with hostile names, made anew."""
    return BUILDERS[kind](narrow, words or {})


@cache
def drawing(kind: str, *, narrow: bool = False) -> figures.Drawing:
    """Return a drawing with hostile names, made once."""
    return new_drawing(kind, narrow=narrow)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - written by our own code a moment ago


def texts(svg: str) -> list[str]:
    """Return every text of a drawing."""
    return [one.text or "" for one in parsed(svg).iter() if one.tag.endswith("text")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_the_same_numbers_give_the_same_bytes(kind: str, narrow: bool) -> None:
    first, again = drawing(kind, narrow=narrow), new_drawing(kind, narrow=narrow)
    assert figures.svg(first, "a-") == figures.svg(again, "a-") == figures.svg(first, "a-")


def test_settings_of_the_user_change_nothing() -> None:
    import matplotlib as mpl

    expected = [figures.svg(drawing(kind), "") for kind in KINDS]
    settings: dict[Any, Any] = {
        "text.usetex": True,
        "text.parse_math": True,
        "savefig.bbox": "tight",
        "svg.fonttype": "path",
        "font.family": "monospace",
        "lines.linewidth": 9,
        "patch.edgecolor": "red",
        "patch.force_edgecolor": True,
        "figure.dpi": 300,
        "savefig.dpi": 300,
        "lines.scale_dashes": False,
        "axes.facecolor": "red",
        "figure.facecolor": "red",
    }
    with mpl.rc_context(settings):
        assert [figures.svg(new_drawing(kind), "") for kind in KINDS] == expected


def test_names_stay_text_whatever_they_hold() -> None:
    pairs = [{**PAIRS[0], "first": name, "second": "b"} for name in NAMES]
    shown = texts(figures.svg(figures.worst_pairs(pairs, narrow=True, words={}), ""))
    for name in ("$x$ <b>&amp;", "年齢 の 列", "גיל", "عمر المريض", "😀 mood", "{curly} %s {0}"):
        assert f"{name} × b" in shown
    assert "line break and\ufffdcontrol\ufffd × b" in shown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_a_drawing_holds_shapes_and_text_only(kind: str, narrow: bool) -> None:
    one = drawing(kind, narrow=narrow)
    for written_svg in (figures.html_svg(one, "x-"), figures.typst_svg(one)):
        tags = {element.tag.rpartition("}")[2] for element in parsed(written_svg).iter()}
        assert tags <= {"svg", "g", "path", "text"}


def test_a_picture_made_of_pixels_can_be_drawn_too() -> None:
    import io

    stream = io.BytesIO()
    figures.curve(POINTS, total=12, target=None, narrow=False, words={}).figure.savefig(stream)
    assert stream.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", KINDS)
def test_html_takes_its_colours_from_the_page_alone(kind: str) -> None:
    html = figures.html_svg(drawing(kind), "f1-", "fig w")
    assert not re.search(r"#[0-9a-f]{6}", html)
    assert "<style" not in html
    assert " id=" not in html
    names = set(re.findall(r"var\(--(\w+)\)", html))
    assert names <= LIGHT.keys()
    classes = set(re.findall(r'class="(h-[^"]+)"', html))
    assert all(f".{name}{{" in figures.heat_css() for name in classes)
    assert bool(classes) == (kind in {"levels", "changes", "many_levels", "many_changes"})
    assert html.startswith('<svg class="fig w" role="img" aria-label="')


@pytest.mark.parametrize("kind", KINDS)
def test_typst_gets_fixed_colours_and_a_family_in_quotes(kind: str) -> None:
    typst = figures.typst_svg(drawing(kind))
    assert "var(" not in typst
    assert "font-family=\"'Source Sans 3'\"" in typst
    colours = set(re.findall(r"#[0-9a-f]{6}", typst))
    steps = {heat(series, step) for series in HEAT_SERIES for step in range(HEAT_TOP_STEP + 1)}
    assert colours <= {*LIGHT.values(), *steps}


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_natural_and_fit_their_places(kind: str) -> None:
    wide, narrow = drawing(kind), drawing(kind, narrow=True)
    root = parsed(figures.typst_svg(wide))
    assert float(root.get("width", "").removesuffix("pt")) <= (453.5 if wide.full_width else 300.5)
    assert float(parsed(figures.html_svg(narrow, "")).get("width", "")) <= 330
    sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)"', figures.typst_svg(wide))}
    assert sizes <= {7.5, 8.0}
    assert 8.0 in sizes


def test_the_two_squares_stand_side_by_side() -> None:
    pair = figures.heat_pair(["a", "b"], ([[1, 0]] * 2,) * 3, narrow=False, words={})
    widths = [72 * one.figure.get_figwidth() for one in pair]
    assert sum(widths) + 9 <= 453.5


@pytest.mark.parametrize("kind", KINDS)
def test_every_drawing_says_in_words_what_it_shows(kind: str) -> None:
    one = drawing(kind)
    assert len(one.alt) > 20
    assert "\x00" not in one.alt
    assert parsed(figures.html_svg(one, "")).get("aria-label") == one.alt


def test_ids_are_prefixed_and_ids_that_nothing_needs_are_gone() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot([1, 2, 3], marker="o", gid="mine")
    svg = figures.svg(figures.Drawing("own", figure, "A line.", full_width=False), "f7-")
    ids = re.findall(r' id="([^"]+)"', svg)
    assert ids
    assert all(one.startswith("f7-") for one in ids)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert set(used) == set(ids)


def test_no_link_style_or_metadata_of_a_figure_comes_through() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.text(0.5, 0.5, "linked", url="javascript:alert(1)")
    svg = figures.svg(figures.Drawing("own", figure, "Words.", full_width=False), "")
    assert "javascript" not in svg
    assert "<metadata" not in svg
    assert "linked" in svg


def test_placeholder_colours_are_different_from_each_other() -> None:
    steps = [heat(s, step) for s in HEAT_SERIES for step in range(1, HEAT_TOP_STEP + 1)]
    colours = [*LIGHT.values(), *steps]
    assert len(set(colours)) == len(colours)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_words_can_be_read_on_paper_and_on_every_tint() -> None:
    for scheme, dark in ((LIGHT, False), (DARK, True)):
        for name in ("ink", "mute", "ava", "holdtx"):
            assert contrast(scheme[name], scheme["paper"]) >= 4.5
        for series in HEAT_SERIES:
            for step in range(HEAT_TOP_STEP + 1):
                assert contrast(scheme["ink"], heat(series, step, dark=dark)) >= 4.5


def test_rules_of_style_are_light_first_and_dark_for_screens_only() -> None:
    for css in (figures.heat_css(), figures.colour_css()):
        light, _, dark = css.partition("@media screen and (prefers-color-scheme:dark){")
        assert light
        assert dark.endswith("}}")
        assert css.count("{") == css.count("}")


def test_numbers_in_cells_follow_the_scale_of_each_square() -> None:
    working = [[1.0, 0.094, -0.5], [0.094, 1.0, None], [-0.5, None, 1.0]]
    avatars = [[1.0, 0.134, -0.3], [0.134, 1.0, 0.2], [-0.3, 0.2, 1.0]]
    levels, changes = figures.heat_pair(
        ["a", "b", "c"], (working, avatars, working), narrow=False, words={}
    )
    assert {"13", "−30", "20", "−50"} <= set(texts(figures.svg(levels, "")))
    assert "9" not in texts(figures.svg(levels, ""))
    assert {"4", "20"} <= set(texts(figures.svg(changes, "")))


def inked(svg: str, colour: str) -> list[str]:
    """Return the paths that are filled with a colour."""
    return [one.get("d", "") for one in parsed(svg).iter() if one.get("fill") == colour]


def test_neighbours_of_one_step_are_one_box_and_a_fall_has_a_stroke() -> None:
    names = [f"v{place}" for place in range(30)]
    high = [[1.0] * 30 for _ in names]
    low = [[-1.0] * 30 for _ in names]
    levels, _ = figures.matrix_pair(names, (high, low, high), narrow=False, words={})
    drawn = figures.svg(levels, "")
    (below, *_) = inked(drawn, heat("orig", 7))
    (above, *_) = inked(drawn, heat("ava", 7))
    assert below.count("M") == above.count("M") == 29
    assert below.count("H") == below.count("V") + 29 == 58
    (strokes, *_) = inked(drawn, LIGHT["ink"])
    assert strokes.count("M") == 30 * 29 / 2


def test_a_box_of_the_square_stands_where_its_pair_belongs() -> None:
    names = [f"v{place}" for place in range(40)]
    blank: list[list[float | None]] = [[None] * 40 for _ in names]
    one = copy.deepcopy(blank)
    one[30][9] = 0.99
    levels, _ = figures.matrix_pair(names, (one, blank, blank), narrow=False, words={})
    (box, *_) = inked(figures.svg(levels, ""), heat("orig", 7))
    x, y, across, down = (float(n) for n in re.findall(r"[\d.]+", box)[:4])
    cell = across - x
    assert down - y == pytest.approx(cell, abs=0.02)
    assert (x - 14.0) / cell == pytest.approx(9, abs=0.05)
    assert (y - 2.9 * 8) / cell == pytest.approx(30, abs=0.05)


def test_a_hundred_variables_weigh_less_than_a_photograph() -> None:
    names = [f"v{place}" for place in range(100)]
    worst = [[(i * 37 + j * 61) % 101 / 50 - 1 for j in range(100)] for i in range(100)]
    pair = figures.matrix_pair(names, (worst, worst, worst), narrow=False, words={})
    assert sum(len(figures.html_svg(one, "")) for one in pair) < 700_000
    assert len(list(parsed(figures.svg(pair[0], "")).iter())) < 120


def test_a_triangle_of_facts_is_drawn_like_the_square_it_stands_for() -> None:
    names = ("matrix_working", "matrix_avatars", "matrix_holdout")
    triangle = [row[place + 1 :] for place, row in enumerate(LEVELS[:-1])]
    facts = {"matrix_variables": NAMES, "worst_pairs": []}
    drawn = [
        [figures.svg(one, "") for one in figures.correlation_drawings(whole, {}, narrow=False)]
        for whole in (facts | dict.fromkeys(names, LEVELS), facts | dict.fromkeys(names, triangle))
    ]
    assert drawn[0] == drawn[1]


def test_numbers_use_a_true_minus_and_the_mark_of_the_language() -> None:
    french = {"figure_decimal": ","}
    assert written(-0.187, 2, french) == "−0,19"
    assert written(0.0001, 2, french, signed=True) == "0,00"
    shown = texts(figures.svg(figures.worst_pairs(PAIRS, narrow=False, words=french), ""))
    assert "−1,55" in shown
    assert "−0,5" in shown


def test_words_of_the_report_take_the_place_of_ours() -> None:
    words = {key: f"<{key}>" for key in figures.ENGLISH if "{" not in figures.ENGLISH[key]}
    words["figure_decimal"] = "."
    drawn = [new_drawing(kind, words=words) for kind in KINDS]
    shown = {text for one in drawn for text in texts(figures.svg(one, ""))}
    ours = {value for key, value in figures.ENGLISH.items() if key in words and len(value) > 1}
    assert not shown & ours
    assert "<figure_originals>" in shown


def test_a_curve_leaves_out_what_was_not_measured() -> None:
    alone = [{**point, "holdout": None, "low": None, "floor": None} for point in POINTS]
    svg = figures.svg(figures.curve(alone, total=12, target=None, narrow=False, words={}), "")
    assert not {"control: unseen", "shuffled columns", "target ≥ 80"} & set(texts(svg))
    assert LIGHT["hold"] not in svg
    assert LIGHT["avaA"] not in svg


def test_the_attack_beside_its_control_stands_in_where_there_is_no_curve() -> None:
    facts = {"success_share": 0.2, "control_share": 0.1, "naive_share": 0.0, "curve": POINTS[:1]}
    (one,) = figures.linkability_drawings(facts, None, {}, narrow=True)
    assert one.name == "attacks"
    full = facts | {"curve": POINTS, "n_known": 12}
    (other,) = figures.linkability_drawings(full, {"operator": ">", "value": 5}, {}, narrow=True)
    assert other.name == "curve"
    assert "Target > 5." in other.alt


def test_too_little_to_draw_is_told() -> None:
    with pytest.raises(ValueError, match="two numbers"):
        figures.curve(POINTS[:1], total=2, target=None, narrow=False, words={})
    with pytest.raises(ValueError, match="at least one pair"):
        figures.worst_pairs([], narrow=False, words={})
    with pytest.raises(ValueError, match="two to twelve"):
        figures.heat_pair(["a"], ([[1.0]],) * 3, narrow=False, words={})
    with pytest.raises(ValueError, match="at least one"):
        figures.interval_dots([], narrow=False, words={})


def test_what_is_drawn_is_left_as_it_was() -> None:
    before = copy.deepcopy((POINTS, PAIRS, LEVELS, SHIFTED, ATTACK))
    for kind in KINDS:
        new_drawing(kind)
    assert before == (POINTS, PAIRS, LEVELS, SHIFTED, ATTACK)


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([97.0, 80.0], (70.0, 10.0)),
        ([99.0], (90.0, 5.0)),
        ([81.0], (80.0, 5.0)),
        ([55.0], (50.0, 10.0)),
        ([35.0], (20.0, 20.0)),
        ([0.0], (0.0, 25.0)),
        ([100.0], (90.0, 5.0)),
    ],
)
def test_the_scale_starts_at_the_ten_below_and_ends_at_100(
    scores: list[float], scale: tuple[float, float]
) -> None:
    assert score_scale(scores) == scale


@pytest.mark.parametrize("last", [3, 4, 7, 12, 15, 30, 57, 200])
def test_the_counts_below_the_axis_hold_both_ends_and_are_few(last: int) -> None:
    shown = shown_counts(range(2, last + 1))
    assert shown[0] == 2
    assert shown[-1] == last
    assert shown == sorted(set(shown))
    assert len(shown) <= 9


def test_names_at_the_ends_of_lines_never_cover_each_other() -> None:
    labels = [Label(50.0, ["one"], "ink"), Label(50.5, ["two", "more"], "ava")]
    labels += [Label(51.0, ["three"], "mute"), Label(140.0, ["four"], "mute")]
    spread(labels, 0.0, 150.0)
    for above, below in itertools.pairwise(labels):
        assert above.top + above.height <= below.top + 0.01
    assert labels[-1].top == pytest.approx(140.0 - LINE_HEIGHT / 2)


def test_long_names_lose_their_middle_and_keep_their_ends() -> None:
    name = "measurement_of_the_first_visit_1"
    short = shortened(name, 60.0)
    assert width_pt(short) <= 60.0
    assert short.startswith("meas")
    assert short.endswith("_1")
    assert "…" in short
    assert wrapped("a few words", 1000.0) == ["a few words"]
    assert max(width_pt(line) for line in wrapped("control: unseen real rows", 60.0)) <= 60.0


def test_controls_and_overrides_become_visible_marks() -> None:
    assert plain("a\u202eb\ud800\x07\ufffe") == "a\ufffdb\ufffd\ufffd\ufffd"


def test_importing_the_figures_is_quick_and_never_starts_a_window() -> None:
    code = (
        "import sys, evalkit.figures as f; assert 'matplotlib' not in sys.modules; "
        "d = f.worst_pairs([{'first': 'a', 'second': 'b', 'working': 1.0, 'avatars': 0.5, "
        "'change': -0.5}], narrow=False, words={}); f.html_svg(d, ''); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_notebook_shows_a_drawing_on_paper() -> None:
    shown = drawing("curve")._repr_svg_()
    assert f'fill="{LIGHT["paper"]}"' in shown
    assert shown.startswith("<svg")
