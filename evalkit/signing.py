"""Sign the PDF of a report, and say what a signature in one is worth. Alone imports pyHanko."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

FIELD: Final = "evalkit-signature"
PASSWORD_VARIABLE: Final = "EVALKIT_SIGN_PASSWORD"  # noqa: S105 - the name of a variable
LARGEST_KEY_BYTES: Final = 2**20


@dataclass(frozen=True)
class Signature:
    """What one signature of a PDF shows.

    Attributes
    ----------
    signer : str
        Name in the certificate. Whose it really is depends on who issued the certificate, which
        is not checked here.
    moment : datetime, optional
        When it was made, as the signer's own clock had it.
    intact : bool
        Whether the signed bytes are those that were signed, and the signature is that of the
        certificate's key.
    whole : bool
        Whether it covers the whole file: nothing was added after it.
    """

    signer: str
    moment: datetime | None
    intact: bool
    whole: bool


def read_key(path: Path, password: str | None) -> Any:
    """Return the signer of a PKCS #12 file.

    Parameters
    ----------
    path : pathlib.Path
        File ``.p12`` or ``.pfx`` with a private key and its certificate.
    password : str or None
        None for a file without one.

    Returns
    -------
    pyhanko.sign.signers.SimpleSigner

    Raises
    ------
    evalkit.InputError
        If pyHanko is not installed, the file cannot be read, or the password does not fit.
    """
    signers = _signers()
    shown = path.name or path
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_KEY_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
        message = f"--sign: {shown}: cannot be read ({reason}); give a key file (.p12)."
        raise InputError(message) from None
    if len(content) > LARGEST_KEY_BYTES:
        raise InputError(f"--sign: {path.name}: too large for a key file; give a .p12 file.")
    phrase = password.encode("utf-8") if password is not None else None
    try:
        signer = signers.SimpleSigner.load_pkcs12_data(content, other_certs=[], passphrase=phrase)
    except (ValueError, TypeError):
        signer = None
    if signer is None or signer.signing_cert is None:
        message = (
            f"--sign: {path.name}: no key can be read from it; check the file and its password "
            f"(asked for on a terminal, else taken from {PASSWORD_VARIABLE})."
        )
        raise InputError(message)
    return signer


def sign_pdf(pdf: bytes, signer: Any) -> bytes:
    """Return a PDF with an invisible signature added after its last byte.

    Parameters
    ----------
    pdf : bytes
        As made by `evalkit.Report.pdf`; it stays the beginning of what is returned.
    signer : pyhanko.sign.signers.SimpleSigner
        From `read_key`.

    Returns
    -------
    bytes

    Raises
    ------
    evalkit.InputError
        If the key cannot sign, such as one of an unknown kind.
    """
    signers = _signers()
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.sign.general import SigningError

    details = signers.PdfSignatureMetadata(field_name=FIELD, md_algorithm="sha256")
    try:
        with _quiet():
            signed = signers.sign_pdf(IncrementalPdfFileWriter(io.BytesIO(pdf)), details, signer)
    except (PdfError, SigningError, NotImplementedError) as error:
        message = f"--sign: the key cannot sign a PDF ({type(error).__name__}); give another one."
        raise InputError(message) from None
    return bytes(signed.getvalue())


def signatures(pdf: bytes, name: str = "the PDF") -> list[Signature]:
    """Return what the signatures of a PDF show; an empty list without any.

    Parameters
    ----------
    pdf : bytes
        Of any origin.
    name : str
        Of its file, for messages.

    Returns
    -------
    list of Signature

    Raises
    ------
    evalkit.InputError
        If there is one and pyHanko is not installed, or if the file is damaged.
    """
    if b"/ByteRange" not in pdf:
        return []
    _signers()
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.general import SigningError

    try:
        with _quiet():
            found = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
            shown = [_shown(one) for one in found]
    except (PdfError, SigningError, ValueError, KeyError, TypeError, IndexError):
        shown = []
    if not shown:  # Signed bytes are marked, and nothing can be read from them.
        message = f"{name}: its signature cannot be read; the file is damaged or was changed."
        raise InputError(message)
    return shown


def _shown(embedded: Any) -> Signature:
    """Return what one signature shows; nobody is asked whether its certificate is trusted."""
    from pyhanko.sign.validation import validate_pdf_signature
    from pyhanko.sign.validation.status import SignatureCoverageLevel
    from pyhanko_certvalidator import ValidationContext

    context = ValidationContext(trust_roots=[], allow_fetching=False)
    status = validate_pdf_signature(embedded, context)
    whole = status.coverage == SignatureCoverageLevel.ENTIRE_FILE
    name = status.signing_cert.subject.native.get("common_name", "")
    return Signature(str(name), status.signer_reported_dt, status.intact and status.valid, whole)


def _signers() -> Any:
    """Return pyHanko's module of signers, or say how to get it."""
    try:
        from pyhanko.sign import signers
    except ImportError:
        message = "Signatures need pyHanko; install it with: pip install 'evalkit[sign]'."
        raise InputError(message) from None
    return signers


class _quiet:  # noqa: N801 - used like a function
    """Keep pyHanko's remarks on paths of trust off the error stream: none is asked for."""

    def __enter__(self) -> None:
        logging.disable(logging.CRITICAL)

    def __exit__(self, *ending: object) -> None:
        logging.disable(logging.NOTSET)
