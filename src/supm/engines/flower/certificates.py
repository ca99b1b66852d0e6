"""Keys and certificates: an authority for the server, and a key for each node."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from supm._errors import FederationError, ParameterError

_CURVE: Final = ec.SECP384R1()
_DAYS: Final = 365
_HERE: Final = ("127.0.0.1", "localhost")
_PLAIN: Final = serialization.NoEncryption()


@dataclass(frozen=True)
class Authority:
    """An authority that vouches for one server, in a folder of its own.

    Parameters
    ----------
    folder : Path
        Where its files are. Parties need `certificate`, and nothing else of it.
    """

    folder: Path

    @property
    def certificate(self) -> Path:
        """What parties know the server by; it is public."""
        return self.folder / "ca.pem"

    @property
    def server_certificate(self) -> Path:
        """What the server shows."""
        return self.folder / "server.pem"

    @property
    def server_key(self) -> Path:
        """What the server proves it with; it never leaves."""
        return self.folder / "server.key"

    @classmethod
    def made(cls, folder: Path, host: str) -> Authority:
        """Return the authority of a folder, and make it where there is none.

        Parameters
        ----------
        folder : Path
            It is made so that only its owner may look into it.
        host : str
            The name or address by which parties reach the server.

        Returns
        -------
        Authority

        Raises
        ------
        FederationError
            If the certificate that is there is for another host, or too old.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = cls(folder)
        if authority.server_key.exists():
            authority._check(host)
        else:
            authority._make(host)
        return authority

    def _make(self, host: str) -> None:
        # The authority's own key is forgotten at once: nobody can make a second certificate.
        own, server = ec.generate_private_key(_CURVE), ec.generate_private_key(_CURVE)
        issuer = _name("SUPM federation")
        root = _builder(issuer, issuer, own.public_key())
        root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        root = root.add_extension(_usage(signs_certificates=True), critical=True)
        identity = x509.SubjectKeyIdentifier.from_public_key(own.public_key())
        made = root.add_extension(identity, critical=False).sign(own, hashes.SHA384())
        shown = _for_server(issuer, server.public_key(), host, identity).sign(own, hashes.SHA384())
        for path, certificate in ((self.certificate, made), (self.server_certificate, shown)):
            path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        form = serialization.PrivateFormat.PKCS8
        secret = server.private_bytes(serialization.Encoding.PEM, form, _PLAIN)
        write_secret(self.server_key, secret)

    def _check(self, host: str) -> None:
        shown = x509.load_pem_x509_certificate(self.server_certificate.read_bytes())
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        if _alternative(host) not in list(names):
            raise FederationError(
                f"the certificate in {self.folder} is for another host than {host}; name the host "
                "that it was made for, or another folder."
            )
        if shown.not_valid_after_utc < datetime.now(UTC):
            raise FederationError(
                f"the certificate in {self.folder} is too old; name another folder."
            )


@dataclass(frozen=True, repr=False)
class NodeKey:
    """The key by which a server knows a party. Its public half is in a file beside it.

    Parameters
    ----------
    private : EllipticCurvePrivateKey
        On the curve P-384.
    """

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def made(cls, path: Path) -> NodeKey:
        """Make a key, and write it with its public half beside it.

        Parameters
        ----------
        path : Path
            A new file, which only its owner may read; the public half ends in ``.pub``.

        Returns
        -------
        NodeKey
        """
        key = cls(ec.generate_private_key(_CURVE))
        form = serialization.PrivateFormat.OpenSSH
        write_secret(path, key.private.private_bytes(serialization.Encoding.PEM, form, _PLAIN))
        encoding, public = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        text = key.private.public_key().public_bytes(encoding, public)
        path.with_name(f"{path.name}.pub").write_bytes(text + b"\n")
        return key

    @classmethod
    def read(cls, path: Path) -> NodeKey:
        """Read a key from the file that `made` wrote.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        NodeKey
        """
        try:
            key = serialization.load_ssh_private_key(path.read_bytes(), None)
        except (OSError, ValueError, UnsupportedAlgorithm):
            key = None
        if isinstance(key, ec.EllipticCurvePrivateKey):
            return cls(key)
        hint = "supm federate key makes one."
        raise ParameterError("key", "a file with a node key that can be read", str(path), hint)


def read_public_key(path: Path) -> bytes:
    """Return the public half of a node key as PEM."""
    try:
        key = serialization.load_ssh_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        hint = "It is the file that ends in .pub beside the party's key."
        raise ParameterError("party-key", "a file with a public node key", str(path), hint)
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, public)


def write_secret(path: Path, content: bytes) -> None:
    """Write a new file that only its owner may read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("key", "a new file that can be written", str(path), hint) from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    # From yesterday on: clocks differ.
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(days=1),
        not_valid_after=now + timedelta(days=_DAYS),
    )


def _for_server(
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    host: str,
    identity: x509.SubjectKeyIdentifier,
) -> x509.CertificateBuilder:
    names = [_alternative(each) for each in dict.fromkeys((host, *_HERE))]
    above = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identity)
    return (
        _builder(_name("SUPM federation server"), issuer, key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(above, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError:
        raise ParameterError("host", "a name in ASCII or an address", host) from None
