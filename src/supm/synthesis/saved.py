"""A learned model and its promise in one file, read back strictly; nothing in it is executed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Final

import supm
from supm._errors import MessageError
from supm._json import canonical, check_fields, read_object
from supm.messages import Part, ReleaseStatement
from supm.synthesis.archive import ArchiveSchema
from supm.synthesis.model_form import model_from_form, model_to_form
from supm.synthesis.synthetic_model import BINS, SyntheticModel

__all__ = ["MODES", "SavedSynthesizer", "archive_statement"]

MODES: Final = ("strict", "faithful")
_VERSION: Final = 2
_FIELDS: Final = ("version", "kind", "settings", "model", "statement")
_SETTINGS: Final = {"mode": str, "bins": int, "latent": bool, "smooth": bool}
_KIND: Final = "copula synthesizer"
_TRUST: Final = (
    "The reports are taken to have been noised by their owners as described; nobody can check that "
    "afterwards. Learning from them and drawing rows are post-processing: they spend nothing more, "
    "however many rows are drawn."
)


@dataclass(frozen=True, kw_only=True)
class SavedSynthesizer:
    """What a synthesizer learned, how it was set, and what was promised to the records.

    Parameters
    ----------
    settings : dict
        Its mode, and how it was told to learn.
    model : SyntheticModel
        What it learned.
    statement : ReleaseStatement
        What the noise of the records promises.
    """

    settings: dict[str, Any]
    model: SyntheticModel
    statement: ReleaseStatement

    def to_json(self) -> str:
        """Return the canonical text."""
        form = {
            "version": _VERSION,
            "kind": _KIND,
            "settings": self.settings,
            "model": model_to_form(self.model),
            "statement": self.statement.to_form(),
        }
        return canonical(form)

    @classmethod
    def from_json(cls, text: str) -> SavedSynthesizer:
        """Read what `to_json` wrote; MessageError where it promises more than its schema does.

        Whether the records were a simulation is the word of who saved it: nothing in a text can
        show that.
        """
        form = read_object(text, _KIND, MessageError)
        check_fields(form, _FIELDS, f"a {_KIND}", MessageError)
        named = set(form) == set(_FIELDS) and form["kind"] == _KIND
        if not named or type(form["version"]) is not int or form["version"] != _VERSION:
            message = f"a {_KIND} has the fields {', '.join(_FIELDS)}, and version {_VERSION}."
            raise MessageError(message)
        model = model_from_form(form["model"])
        settings = _settings(form["settings"], model)
        told = ReleaseStatement.from_form(form["statement"])
        # Derived anew: a statement is not believed beside the noise that it speaks of.
        statement = archive_statement(model.schema, simulation=told.simulation)
        if replace(told, software=statement.software) != statement:
            message = f"the {_KIND} states something else than its schema promises."
            raise MessageError(message)
        return cls(settings=settings, model=model, statement=statement)


def archive_statement(schema: ArchiveSchema, *, simulation: bool) -> ReleaseStatement:
    """Return what the noise of an archive promises to its records, whatever is learned from it."""
    return ReleaseStatement(
        study=hashlib.sha256(schema.to_json().encode()).hexdigest(),
        parts=tuple(
            Part(name=each.name, method=each.method, guarantee=each.guarantee)
            for each in schema.columns
        ),
        total=schema.guarantee,
        trust=_TRUST,
        simulation=simulation,
        software=f"supm {supm.__version__}",
    )


def _settings(form: Any, model: SyntheticModel) -> dict[str, Any]:  # noqa: ANN401  from a stranger
    named = isinstance(form, dict) and set(form) == set(_SETTINGS)
    typed = named and all(type(form[name]) is kind for name, kind in _SETTINGS.items())
    if (
        not typed
        or form["mode"] != MODES[model.tied]
        or not BINS.low <= form["bins"] <= BINS.high
        or not model.bins <= {form["bins"]}
    ):
        message = f"the settings of the {_KIND} are not those of the model beside them."
        raise MessageError(message)
    return dict(form)
