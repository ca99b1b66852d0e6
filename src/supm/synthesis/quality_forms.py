"""Parts of a quality report as plain values for JSON."""

from __future__ import annotations

from typing import Any

from supm.synthesis.quality_columns import ColumnQuality
from supm.synthesis.quality_models import ModelReport

__all__ = ["column_form", "models_form"]


def column_form(column: ColumnQuality) -> dict[str, Any]:
    """Return one column as plain values.

    Parameters
    ----------
    column : ColumnQuality
        Of a report.

    Returns
    -------
    dict
    """
    figures = [
        {
            "what": each.what,
            "noisy": each.noisy,
            "estimate": each.estimate,
            "standard_error": each.error,
            "synthetic": each.synthetic,
            "clean": each.clean,
        }
        for each in column.figures
    ]
    return {
        "name": column.name,
        "beyond_bounds": column.beyond,
        "noisy_distance": column.noisy_distance,
        "synthetic_distance": column.synthetic_distance,
        "figures": figures,
        "shape": {
            "known": column.shape.known,
            "blur": column.shape.blur,
            "low": column.shape.low.tolist(),
            "high": column.shape.high.tolist(),
        },
    }


def models_form(models: ModelReport | None) -> dict[str, Any] | None:
    """Return the errors of models as plain values, or None where there are none.

    Parameters
    ----------
    models : ModelReport or None
        Of a report.

    Returns
    -------
    dict or None
    """
    if models is None:
        return None
    errors = [
        {
            "name": each.name,
            "model": each.model,
            "rows": each.rows or None,
            "error": each.error,
            "standard_error": each.standard_error,
            "known": each.known,
        }
        for each in models.errors
    ]
    return {
        "target": models.target,
        "measure": models.measure,
        "method": models.method,
        "errors": errors,
    }
