"""The annex of distributions: each variable in all tables on the same bins, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evalkit.report.blocks import figure, heading, prose, text
from evalkit.report.pictures import drawn

if TYPE_CHECKING:
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

OPTION: Final = "annex_variables"
VARIABLES_DRAWN: Final = 60
IN_A_FIGURE: Final = 6


def distribution_blocks(subject: Subject) -> list[Block]:
    """Return the pictures of the variables that changed most, and how many are not drawn."""
    found = subject.assessment.distributions
    most = subject.assessment.options.get(OPTION, VARIABLES_DRAWN)
    shown = found[: most if isinstance(most, int) else VARIABLES_DRAWN]
    if not found:
        return []
    title = heading(subject.heading("distributions"))
    min_count = subject.assessment.scenario.min_count
    blocks = [title, *(text(prose(one, min_count=min_count)) for one in subject.text(OPTION))]
    if len(shown) < len(found):
        cut = subject.label("distributions_cut", shown=len(shown), count=len(found))
        blocks.append(text(cut))
    starts = range(0, len(shown), IN_A_FIGURE)
    return [
        *blocks,
        *(_pictures(subject, one, min(one + IN_A_FIGURE, len(shown))) for one in starts),
    ]


def _pictures(subject: Subject, first: int, after: int) -> Block:
    """Return one figure of a few variables, small enough for the rest of a page."""
    from evalkit.figures import small_multiples

    words = subject.words.get("figures", {})
    panels = [msgspec.to_builtins(one) for one in subject.assessment.distributions[first:after]]
    form = "distributions_caption_one" if after == first + 1 else "distributions_caption"
    caption = subject.label(form, first=first + 1, last=after)
    picture = drawn(
        lambda narrow: small_multiples(panels, narrow=narrow, words=words), f"f-annex-{first}"
    )
    return figure([picture], [prose(caption, inline=True)], full_width=True)
