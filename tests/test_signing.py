"""A signed report: the PDF stays what it was, the signature covers all of it, a change shows."""

from __future__ import annotations

import datetime as dt
import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pikepdf
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID
from sample_assessment import bare

from evalkit.errors import InputError
from evalkit.report.document import Report
from evalkit.signing import read_key, sign_pdf, signatures

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A. Assessor")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(7)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=30))
        .sign(private, hashes.SHA256())
    )
    hidden = serialization.BestAvailableEncryption(PASSWORD.encode())
    path = tmp_path_factory.mktemp("key") / "assessor.p12"
    path.write_bytes(
        pkcs12.serialize_key_and_certificates(b"k", private, certificate, None, hidden)
    )
    return path


@pytest.fixture(scope="module")
def pdf() -> bytes:
    return Report(bare()).pdf()


@pytest.fixture(scope="module")
def signed(pdf: bytes, key: Path) -> bytes:
    return sign_pdf(pdf, read_key(key, PASSWORD))


def test_a_signed_report_begins_with_the_report_and_still_conforms(
    pdf: bytes, signed: bytes, tmp_path: Path
) -> None:
    import pdfua

    assert signed.startswith(pdf)
    with pikepdf.open(io.BytesIO(signed)) as document:
        assert document.check_pdf_syntax() == []
        with document.open_metadata() as metadata:
            assert metadata["pdfaid:part"] == "3"
            assert metadata["pdfaid:conformance"] == "A"
            assert metadata["pdfuaid:part"] == "1"
        attached = document.attachments["assessment.json"].get_file().read_bytes()
        assert attached == bare().json()
    (tmp_path / "signed.pdf").write_bytes(signed)
    assert [one.message for one in pdfua.validate(tmp_path / "signed.pdf").findings] == []


def test_a_signature_names_its_signer_and_covers_the_whole_file(pdf: bytes, signed: bytes) -> None:
    assert signatures(pdf) == []
    (found,) = signatures(signed)
    assert (found.signer, found.intact, found.whole) == ("A. Assessor", True, True)
    assert found.moment is not None


def test_a_changed_byte_breaks_the_signature(signed: bytes) -> None:
    changed = bytearray(signed)
    place = changed.index(b"/Title")
    changed[place + 8] ^= 1
    (found,) = signatures(bytes(changed))
    assert not found.intact


def test_what_is_added_after_the_signature_is_not_covered(signed: bytes) -> None:
    with pikepdf.open(io.BytesIO(signed)):
        pass
    from pyhanko.pdf_utils import generic
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    writer = IncrementalPdfFileWriter(io.BytesIO(signed))
    writer.root["/Added"] = generic.pdf_string("later")
    writer.update_root()
    out = io.BytesIO()
    writer.write(out)
    (found,) = signatures(out.getvalue())
    assert not found.whole


@pytest.mark.parametrize("cut", [400, 100])
def test_a_damaged_signature_gives_one_clear_line(signed: bytes, cut: int) -> None:
    with pytest.raises(InputError, match="damaged or was changed"):
        signatures(signed[: len(signed) - cut])


def test_a_wrong_password_or_file_gives_one_clear_line(key: Path, tmp_path: Path) -> None:
    for password in ("wrong", None, ""):
        with pytest.raises(InputError, match="check the file and its password"):
            read_key(key, password)
    (tmp_path / "no.p12").write_bytes(b"no key")
    with pytest.raises(InputError, match=r"no\.p12: no key can be read"):
        read_key(tmp_path / "no.p12", PASSWORD)
    with pytest.raises(InputError, match=r"gone\.p12: cannot be read"):
        read_key(tmp_path / "gone.p12", PASSWORD)
    with pytest.raises(InputError, match=r"--sign: \.: cannot be read"):
        read_key(type(tmp_path)(), PASSWORD)


def test_the_commands_sign_the_pdf_and_refuse_a_bad_key_before_any_work(
    key: Path, tmp_path: Path
) -> None:
    bare().save(tmp_path / "assessment.json")
    call = [sys.executable, "-m", "evalkit", "render", "assessment.json", "-o", "out"]
    call += ["--sign", str(key)]

    def run(password: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"EVALKIT_SIGN_PASSWORD": password}
        options = {"cwd": tmp_path, "env": environment, "stdin": subprocess.DEVNULL}
        return subprocess.run(call, capture_output=True, text=True, check=False, **options)

    refused = run("wrong")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()
    done = run(PASSWORD)
    assert (done.returncode, done.stderr) == (0, "")
    (found,) = signatures((tmp_path / "out" / "technical_assessment.pdf").read_bytes())
    assert found.intact


def test_signing_needs_a_pdf() -> None:
    from evalkit.commands.signed import signer_for

    with pytest.raises(InputError, match="add pdf to --formats"):
        signer_for("key.p12", ["html"])
