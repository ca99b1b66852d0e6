"""A synthetic table from records that were noised long ago."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Final, Self

import narwhals as nw
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import supm
from supm._errors import MessageError, ParameterError
from supm._json import canonical, check_fields, read_object
from supm._validation import check_kind
from supm.estimators._flags import check_flag
from supm.estimators._randomness import source_for
from supm.messages import Part, ReleaseStatement
from supm.synthesis import Archive, ArchiveSchema, learn_model, learn_paper_model
from supm.synthesis.archive_schema import Column
from supm.synthesis.model_form import model_from_form, model_to_form
from supm.synthesis.synthetic_model import BINS, SyntheticModel

__all__ = ["CopulaSynthesizer"]

_MODES: Final = ("strict", "faithful")
_VERSION: Final = 2
_FIELDS: Final = ("version", "kind", "settings", "model", "statement")
_SETTINGS: Final = {"mode": str, "bins": int, "latent": bool, "smooth": bool}
_KIND: Final = "copula synthesizer"
_TRUST: Final = (
    "The reports are taken to have been noised by their owners as described; nobody can check that "
    "afterwards. Learning from them and drawing rows are post-processing: they spend nothing more, "
    "however many rows are drawn."
)


class CopulaSynthesizer(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a model of the true records from noised ones, and draw synthetic rows from it.

    Numbers and ordered classes are joined by a Gaussian copula, other classes by a tree of two-way
    tables, and the two by shifts of the copula's normals. If the target is a class, all of this is
    learned within each of its classes, which occur as often as the debiased reports say.

    Parameters
    ----------
    schema : ArchiveSchema
        The columns, and by which mechanism and how strongly each was noised.
    mode : {"strict", "faithful"}, default "strict"
        "faithful" is the method of paper 004 with its formulas corrected; it takes numbers only.
    bins : int, default 100
        How many bins of a number are told apart.
    latent : bool, default True
        Whether covariances are inverted to the normals behind them (NORTA). Without, the
        correlation of two columns is taken for that of their normals. Not used by "faithful".
    smooth : bool, default False
        Whether distributions of numbers are smoothed (EMS): good where they have no spikes. Not
        used by "faithful".
    random_state : int, optional
        None draws rows from secure randomness, others in each call. A whole number fixes the rows;
        what was promised to the owners does not depend on it.

    Attributes
    ----------
    model_ : supm.synthesis.SyntheticModel
        What was learned.
    statement_ : supm.messages.ReleaseStatement
        What each record spent when it was noised, in total.

    References
    ----------
    Y. Sei, J. A. Onesimu, A. Ohsuga, Machine learning model generation with copula-based synthetic
    dataset for local differentially private numerical data, IEEE Access 10 (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from supm import simulation
    >>> from supm.synthesis import Archive, LaplaceLaw, NumberColumn
    >>> law = LaplaceLaw.for_epsilon(low=0, high=1, epsilon=8.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("a", law), NumberColumn("b", law)))
    >>> clean = np.linspace(0, 1, 2000)
    >>> noisy = Archive.noised({"a": clean, "b": 1 - clean}, schema, simulation(1)).table()
    >>> synthesizer = CopulaSynthesizer(schema=schema, random_state=1).fit(noisy)
    >>> rows = synthesizer.sample(1000)
    >>> bool(np.corrcoef(rows["a"], rows["b"])[0, 1] < -0.9)
    True
    >>> synthesizer.statement_.total
    PureLDP(epsilon=16.0)
    """

    def __init__(
        self,
        *,
        schema: ArchiveSchema | None = None,
        mode: str = "strict",
        bins: int = 100,
        latent: bool = True,
        smooth: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.schema = schema
        self.mode = mode
        self.bins = bins
        self.latent = latent
        self.smooth = smooth
        self.random_state = random_state

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803  scikit-learn's name
        """Learn from a table of noised records; it spends nothing.

        Parameters
        ----------
        X : table or Archive
            A dataframe of any library, a mapping of columns, a list of mappings or an array.
        y : None
            Not used: the target is a column.

        Returns
        -------
        CopulaSynthesizer
        """
        del y
        settings = self._checked()
        archive = X if isinstance(X, Archive) else self._read(X)
        if settings["mode"] == "faithful":
            self.model_ = learn_paper_model(archive, bins=settings["bins"])
        else:
            chosen = {name: settings[name] for name in ("bins", "smooth", "latent")}
            self.model_ = learn_model(archive, **chosen)
        self.statement_ = _statement(archive.schema, simulation=archive.simulation)
        self._settings = settings
        self._backend = _backend(X)
        return self

    def sample(self, rows: int) -> Any:  # noqa: ANN401  of the kind of the table that was given
        """Draw synthetic rows; it spends nothing.

        Parameters
        ----------
        rows : int
            How many.

        Returns
        -------
        dataframe or dict of str to ndarray
            A dataframe of the library of the table given to ``fit``, or else a dict of columns.
        """
        check_is_fitted(self, "model_")
        columns = self.model_.sample(rows, source_for(self.random_state, "sample"))
        return columns if self._backend is None else _frame(columns, self._backend)

    def to_json(self) -> str:
        """Return the model and its statement as canonical text, which `from_json` reads.

        Returns
        -------
        str
        """
        check_is_fitted(self, "model_")
        form = {
            "version": _VERSION,
            "kind": _KIND,
            "settings": self._settings,
            "model": model_to_form(self.model_),
            "statement": self.statement_.to_form(),
        }
        return canonical(form)

    @classmethod
    def from_json(cls, text: str, *, random_state: int | None = None) -> CopulaSynthesizer:
        """Read what `to_json` wrote; nothing in it is executed.

        The promise is derived anew from the schema in it. Whether the records were a simulation is
        the word of who saved it: nothing in a text can show that.

        Parameters
        ----------
        text : str
            The canonical text.
        random_state : int, optional
            As in the constructor.

        Returns
        -------
        CopulaSynthesizer
            Fitted, with the settings it was fitted with; its rows come as a dict of columns.
        """
        form = read_object(text, _KIND, MessageError)
        check_fields(form, _FIELDS, f"a {_KIND}", MessageError)
        named = set(form) == set(_FIELDS) and form["kind"] == _KIND
        if not named or type(form["version"]) is not int or form["version"] != _VERSION:
            message = f"a {_KIND} has the fields {', '.join(_FIELDS)}, and version {_VERSION}."
            raise MessageError(message)
        model = model_from_form(form["model"])
        settings = _settings(form["settings"], model)
        made = cls(schema=model.schema, random_state=random_state, **settings)
        made.model_ = model
        made._settings = settings
        told = ReleaseStatement.from_form(form["statement"])
        # Derived anew: a statement is not believed beside the noise that it speaks of.
        made.statement_ = _statement(model.schema, simulation=told.simulation)
        if replace(told, software=made.statement_.software) != made.statement_:
            message = f"the {_KIND} states something else than its schema promises."
            raise MessageError(message)
        made._backend = None
        return made

    def _checked(self) -> dict[str, Any]:
        mode: object = self.mode
        if not isinstance(mode, str) or mode not in _MODES:
            raise ParameterError("mode", f"one of {', '.join(_MODES)}", mode)
        flags = {name: check_flag(name, getattr(self, name)) for name in ("latent", "smooth")}
        return {"mode": str(mode), "bins": BINS.check(self.bins)} | flags

    def _read(self, table: object) -> Archive:
        check_kind("schema", self.schema, ArchiveSchema)
        return Archive.read(table, self.schema)  # type: ignore[arg-type]  # checked in the line before


def _settings(form: Any, model: SyntheticModel) -> dict[str, Any]:  # noqa: ANN401  from a stranger
    named = isinstance(form, dict) and set(form) == set(_SETTINGS)
    typed = named and all(type(form[name]) is kind for name, kind in _SETTINGS.items())
    if (
        not typed
        or form["mode"] != _MODES[model.tied]
        or not BINS.low <= form["bins"] <= BINS.high
        or not model.bins <= {form["bins"]}
    ):
        message = f"the settings of the {_KIND} are not those of the model beside them."
        raise MessageError(message)
    return dict(form)


def _statement(schema: ArchiveSchema, *, simulation: bool) -> ReleaseStatement:
    return ReleaseStatement(
        study=hashlib.sha256(schema.to_json().encode()).hexdigest(),
        parts=tuple(
            Part(name=each.name, method=_method(each), guarantee=each.law.guarantee)
            for each in schema.columns
        ),
        total=schema.guarantee,
        trust=_TRUST,
        simulation=simulation,
        software=f"supm {supm.__version__}",
    )


def _method(column: Column) -> str:
    return f"{column.law.mechanism.replace('_', ' ')} with epsilon {column.law.epsilon:g}"


def _backend(table: object) -> Any:  # noqa: ANN401  narwhals' own kind
    frame = nw.from_native(table, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame.implementation
    return None


def _frame(columns: dict[str, NDArray[Any]], backend: Any) -> Any:  # noqa: ANN401  as above
    listed = {name: column.tolist() for name, column in columns.items()}
    return nw.from_dict(listed, backend=backend).to_native()
