"""A synthetic table from records that were noised long ago."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from supm._errors import ParameterError
from supm._validation import check_kind
from supm.estimators._reading import check_flag, source_for
from supm.synthesis import Archive, ArchiveSchema, SavedSynthesizer, learn_model, learn_paper_model
from supm.synthesis.archive import archive_statement
from supm.synthesis.synthetic_model import BINS, MODES


@dataclass(kw_only=True, eq=False, repr=False)
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
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import Archive, NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=8.0)
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

    schema: ArchiveSchema | None = None
    mode: str = "strict"
    bins: int = 100
    latent: bool = True
    smooth: bool = False
    random_state: int | None = None

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
        self.statement_ = archive_statement(archive.schema, simulation=archive.simulation)
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
        saved = SavedSynthesizer(
            settings=self._settings, model=self.model_, statement=self.statement_
        )
        return saved.to_json()

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
        saved = SavedSynthesizer.from_json(text)
        made = cls(schema=saved.model.schema, random_state=random_state, **saved.settings)
        made.model_, made.statement_ = saved.model, saved.statement
        made._settings = saved.settings
        made._backend = None
        return made

    def _checked(self) -> dict[str, Any]:
        mode: object = self.mode
        if not isinstance(mode, str) or mode not in MODES:
            raise ParameterError("mode", f"one of {', '.join(MODES)}", mode)
        flags = {name: check_flag(name, getattr(self, name)) for name in ("latent", "smooth")}
        return {"mode": str(mode), "bins": BINS.check(self.bins)} | flags

    def _read(self, table: object) -> Archive:
        check_kind("schema", self.schema, ArchiveSchema)
        return Archive.read(table, self.schema)  # type: ignore[arg-type]  # checked in the line before


def _backend(table: object) -> Any:  # noqa: ANN401  narwhals' own kind
    frame = nw.from_native(table, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame.implementation
    return None


def _frame(columns: dict[str, NDArray[Any]], backend: Any) -> Any:  # noqa: ANN401  as above
    listed = {name: column.tolist() for name, column in columns.items()}
    return nw.from_dict(listed, backend=backend).to_native()
