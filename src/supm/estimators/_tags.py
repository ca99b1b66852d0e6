"""What scikit-learn may expect of the tables that a schema allows."""

from __future__ import annotations

from typing import Any

from supm.schema import Continuous, Schema

__all__ = ["tag_input", "tag_study"]


def tag_input(tags: Any, schema: object) -> Any:  # noqa: ANN401  scikit-learn has no types
    """Return the tags with what the schema, if there is one, says about the columns."""
    if isinstance(schema, Schema):
        listed = any(not isinstance(each, Continuous) for each in schema.attributes)
        tags.input_tags.categorical = tags.input_tags.string = listed
        tags.input_tags.allow_nan = any(each.missing == "class" for each in schema.attributes)
    return tags


def tag_study(tags: Any, schema: object) -> Any:  # noqa: ANN401  scikit-learn has no types
    """Return the tags of an estimator that runs a study."""
    # Noise costs accuracy: scikit-learn's small tables do not reach the score that it expects.
    for kind in (tags.classifier_tags, tags.regressor_tags):
        if kind is not None:
            kind.poor_score = True
    return tag_input(tags, schema)
