"""What may follow the pages of a PDF: a signature that covers the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.verifying.checks import DIFFERS, NOT_COMPARED, SAME, Check

if TYPE_CHECKING:
    from collections.abc import Iterator


def signature_checks(pdf: bytes, pages: bytes | None, name: str) -> Iterator[Check]:
    """Return what the signatures of a PDF show.

    Parameters
    ----------
    pdf : bytes
        The whole file.
    pages : bytes or None
        The report as it was made, if the file begins with it.
    name : str
        Of the file, for messages.

    Yields
    ------
    Check
        One for each signature. Whether the certificate is trusted is not looked at: that depends
        on who issued it.

    Raises
    ------
    evalkit.InputError
        If the file is signed and pyHanko is not installed, or the signature cannot be read.
    """
    from evalkit.signing import signatures

    found = signatures(pdf, name)
    if not found:
        if pages is not None and len(pdf) > len(pages):
            yield Check(DIFFERS, "something was added behind the pages of the PDF")
        yield Check(NOT_COMPARED, "no signature in the PDF")
    for one in found:
        moment = f", {one.moment:%Y-%m-%d}" if one.moment else ""
        if not one.intact:
            yield Check(DIFFERS, f"the file and what was signed in the name of {one.signer!r}")
        elif not one.whole and any(other.whole for other in found):
            yield Check(NOT_COMPARED, f"what was signed after {one.signer!r} had signed")
        elif not one.whole:
            yield Check(DIFFERS, f"something was added after the signature of {one.signer!r}")
        else:
            yield Check(
                SAME,
                f"the whole file is what was signed in the name of {one.signer!r}{moment}; "
                "whose key that is was not checked",
            )
