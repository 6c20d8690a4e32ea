"""Make ``report_templates/fonts`` from three downloaded packages.

The PDF is set with the complete fonts. HTML carries subsets of them, as WOFF2 under names of their
own, because a reserved font name may not be given to a changed font.

    python tools/build_fonts.py --libertinus expo-google-fonts-libertinus-serif-0.4.0.tgz \
        --source-sans expo-google-fonts-source-sans-3-0.4.1.tgz \
        --stix ziamath-0.13-py3-none-any.whl

The packages are ``@expo-google-fonts/libertinus-serif`` and ``@expo-google-fonts/source-sans-3``
(``npm pack NAME``) and ``ziamath`` (``pip download --no-deps``). Needs ``fonttools[woff]``.
The same packages give the same bytes.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

FONTS: Final = Path(__file__).resolve().parents[1] / "report_templates" / "fonts"

# Latin with its accents, Greek, general punctuation (thin, narrow and unbroken spaces, the unbroken
# hyphen, quotation marks), the euro, arrows, and the signs of comparison that texts use.
TEXT: Final = frozenset(
    [
        *range(0x20, 0x7F),
        *range(0xA0, 0x180),
        *range(0x370, 0x400),
        *range(0x2000, 0x2070),
        *range(0x2190, 0x2200),
        *map(ord, "€−×≈≠≤≥√∈"),
    ]
)
# What formulas are written with: upright letters and their accents, italic letters, Greek,
# double-struck capitals and one, sums, roots, relations, sets, brackets. Bold letters and long
# arrows would add a third to the size.
MATHEMATICS: Final = frozenset(
    [
        *range(0x20, 0x7F),
        *range(0xC0, 0x100),
        *range(0x391, 0x3CA),
        *map(ord, "\xa0±·×÷′…⟨⟩⌊⌋⌈⌉ℎℓℕℝℤ"),  # noqa: RUF001 - the signs are meant
        *map(ord, "→⇒∀∂∃∅∇∈∉∏∑−∗∘√∝∞∥∧∨∩∪∫∼≈≔≠≤≥≪≫⊂⊆⊥⋅⋯"),  # noqa: RUF001 - the same
        *range(0x1D434, 0x1D468),
        0x1D53C,
        0x1D7D9,
        *range(0x1D6FC, 0x1D71C),
    ]
)


class Cut(NamedTuple):
    """One font: where its package holds it, and what its subset is called."""

    package: str
    member: str
    file: str
    family: str
    style: str


CUTS: Final = (
    *(
        Cut(
            "libertinus",
            f"package/{folder}/LibertinusSerif_{folder}.ttf",
            f"LibertinusSerif-{style}.ttf",
            "Evalkit Text",
            style,
        )
        for folder, style in (
            ("400Regular", "Regular"),
            ("400Regular_Italic", "Italic"),
            ("600SemiBold", "SemiBold"),
        )
    ),
    *(
        Cut(
            "source_sans",
            f"package/{folder}/SourceSans3_{folder}.ttf",
            f"SourceSans3-{style}.ttf",
            "Evalkit Label",
            style,
        )
        for folder, style in (("400Regular", "Regular"), ("600SemiBold", "SemiBold"))
    ),
    Cut(
        "stix",
        "ziamath/fonts/STIXTwoMath-Regular.ttf",
        "STIXTwoMath-Regular.ttf",
        "Evalkit Math",
        "Regular",
    ),
)
LICENCES: Final = {"libertinus": "LibertinusSerif-OFL.txt", "source_sans": "SourceSans3-OFL.txt"}


def read_member(package: Path, member: str) -> bytes:
    """Return one file of a package, whichever of the two forms the package has."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return archive.read(member)
    with tarfile.open(package) as archive:
        file = archive.extractfile(member)
        if file is None:
            raise FileNotFoundError(f"{member} is no file in {package.name}")
        return file.read()


def subset(complete: bytes, cut: Cut) -> bytes:
    """Return the font cut to the characters that HTML needs, renamed, as WOFF2."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(complete), recalcTimestamp=False)
    mathematics = cut.family == "Evalkit Math"
    options = Options(hinting=False, notdef_outline=True, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14])
    options.layout_features = (
        ["ccmp", "dtls", "flac", "ssty"]
        if mathematics
        else ["ccmp", "kern", "liga", "locl", "mark"]
    )
    cutter = Subsetter(options)
    cutter.populate(unicodes=MATHEMATICS if mathematics else TEXT)
    cutter.subset(font)
    rename(font, cut)
    font.flavor = "woff2"
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def rename(font: TTFont, cut: Cut) -> None:
    """Give the subset its own name wherever the old one stood."""
    for name_id, text in {
        1: cut.family,
        2: cut.style,
        3: f"{cut.family} {cut.style}, subset",
        4: f"{cut.family} {cut.style}",
        6: f"{cut.family}-{cut.style}".replace(" ", ""),
    }.items():
        font["name"].removeNames(nameID=name_id)
        font["name"].setName(text, name_id, 3, 1, 0x409)


def stix_licence(libertinus_licence: str, complete: bytes) -> str:
    """Return the licence of STIX: the same terms, under the copyright that the font states."""
    from fontTools.ttLib import TTFont

    copyright_line = str(TTFont(io.BytesIO(complete))["name"].getDebugName(0))
    _, _, terms = libertinus_licence.partition("\n\n")
    return f"{copyright_line}\n\n{terms}"


def build(packages: dict[str, Path], output: Path) -> None:
    """Write complete fonts, subsets and licences, and print each file's size."""
    output.mkdir(parents=True, exist_ok=True)
    written: dict[str, bytes] = {}
    for package, name in LICENCES.items():
        licence = read_member(packages[package], "package/LICENSE_FONT")
        written[name] = licence.replace(b"\r\n", b"\n")
    for cut in CUTS:
        complete = read_member(packages[cut.package], cut.member)
        written[cut.file] = complete
        subset_name = f"{cut.family}-{cut.style}.woff2".replace(" ", "")
        written[subset_name] = subset(complete, cut)
        if cut.package == "stix":
            terms = written[LICENCES["libertinus"]].decode()
            written["STIXTwoMath-OFL.txt"] = stix_licence(terms, complete).encode()
    for name, content in sorted(written.items()):
        (output / name).write_bytes(content)
        print(f"{len(content):>9,}  {name}")
    print(f"{sum(map(len, written.values())):>9,}  in all")


def main() -> None:
    """Read the paths of the packages and build."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for package in ("libertinus", "source-sans", "stix"):
        parser.add_argument(f"--{package}", type=Path, required=True, metavar="PACKAGE")
    parser.add_argument("--output", type=Path, default=FONTS)
    arguments = vars(parser.parse_args())
    build(
        {name: arguments[name] for name in ("libertinus", "source_sans", "stix")},
        arguments["output"],
    )


if __name__ == "__main__":
    main()
