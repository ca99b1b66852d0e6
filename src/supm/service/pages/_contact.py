"""How owners reach those who run a study: a link where it can only be one, plain text otherwise."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["safe_link"]

_HOST: Final = r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}"
_MAIL: Final = re.compile(rf"[A-Za-z0-9._+-]{{1,64}}@{_HOST}")
# No name before the host and nothing that a browser would read in another way.
_PAGE: Final = re.compile(rf"https://{_HOST}(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._~/%#?&=+,-]*)?")


def safe_link(contact: str) -> str | None:
    """Return the address behind a contact that is an e-mail address or a page, else None.

    Parameters
    ----------
    contact : str
        What those who run the study gave.

    Returns
    -------
    str or None

    Examples
    --------
    >>> safe_link("study@hospital.example"), safe_link("https://hospital.example/study")
    ('mailto:study@hospital.example', 'https://hospital.example/study')
    >>> safe_link("javascript:alert(1)"), safe_link("Room 4, study@hospital.example")
    (None, None)
    """
    if _MAIL.fullmatch(contact):
        return f"mailto:{contact}"
    return contact if _PAGE.fullmatch(contact) else None
