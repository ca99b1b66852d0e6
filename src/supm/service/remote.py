"""A study at an aggregator, by HTTP: what everybody may ask of it, and the analyst's steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from supm._errors import SupmError
from supm.messages import Model, Report, Study
from supm.owner.http import Remote, answered, split_study_url
from supm.reporting import counted

_STEP_SECONDS: Final = 900.0
_AT_ONCE: Final = 1000
_NO_ANSWER: Final = {
    "closed": "the study is closed; its model answers no more.",
    "trained": "the study's model does not answer yet: it is trained, and the analyst must serve "
    "it.",
}


class RemoteStudy:
    """A study at an aggregator.

    Parameters
    ----------
    url : str
        Its address: ``https://host/studies/NAME``.
    token : str, optional
        The analyst's, for steps.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        base, self.name = split_study_url(url)
        self._path = f"/api/v1/studies/{self.name}"
        self._asking = Remote(base)
        # A step is taken once: the answer to a second attempt would be that it is done.
        self._acting = Remote(base, token=token, timeout=_STEP_SECONDS, attempts=1)

    def status(self) -> dict[str, Any]:
        """Return what everybody may know about it."""
        return answered(self._asking.get_json(self._path))

    def document(self) -> Study:
        """Return what an owner is asked now, read from the aggregator's answer."""
        return Study.from_form(answered(self._asking.get_json(f"{self._path}/document")))

    def model(self) -> Model:
        """Return the published model."""
        return Model.from_json(json.dumps(answered(self._asking.get_json(f"{self._path}/model"))))

    def send(self, report: Report) -> dict[str, Any]:
        """Send what an owner tells, as an owner does, and return the receipt."""
        return answered(self._asking.post_json(f"{self._path}/reports", report.to_json()))

    def step(self, *steps: str, weights: str | None = None) -> dict[str, Any]:
        """Take steps as the analyst does, and return where the study stands.

        Parameters
        ----------
        *steps : {"reduce", "open", "train", "serve", "close"}
            One after the other.
        weights : {"balanced"}, optional
            How labels count in training.

        Returns
        -------
        dict
            The study's status.
        """
        form: dict[str, Any] = {}
        for step in steps:
            wish = {"weights": weights} if step == "train" else {}
            form = answered(self._acting.post_json(f"{self._path}/{step}", json.dumps(wish)))
        _check_status(form)
        return form

    def check_serving(self) -> None:
        """Raise SupmError where the study has no model that answers."""
        state = str(self.status().get("state"))
        if state != "serving":
            raise SupmError(_NO_ANSWER.get(state, f"the study has no model yet: it is {state}."))

    def predict(self, reports: Sequence[Report]) -> list[dict[str, Any]]:
        """Return the model's answer to each report of the test phase; nothing is stored.

        Parameters
        ----------
        reports : sequence of Report
            What test owners tell.

        Returns
        -------
        list of dict
            Each with an "answer" and its "probability", which is None where it is not known.
        """
        answers: list[dict[str, Any]] = []
        for start in range(0, len(reports), _AT_ONCE):
            part = reports[start : start + _AT_ONCE]
            told = [{"id": each.id, "symbols": list(each.symbols)} for each in part]
            head = {"version": 1, "study": part[0].study, "phase": "test", "group": part[0].group}
            body = json.dumps({**head, "reports": told})
            form = answered(self._asking.post_json(f"{self._path}/predict", body))
            answers += _answers(form, len(part))
        return answers


def _check_status(form: dict[str, Any]) -> None:
    """Refuse an answer that is not the status of a study."""
    texts = [form.get(each) for each in ("name", "purpose", "state", "guarantee")]
    texts += [form.get(each, "") for each in ("by", "contact")]
    counts = form.get("reports")
    whole = isinstance(counts, dict) and all(type(each) is int for each in counts.values())
    if not whole or not all(isinstance(each, str) for each in texts):
        raise SupmError("the aggregator took the step, and did not say where the study stands.")


def _answers(form: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return what an aggregator answered, an answer for each report, or say that it did not."""
    told = form.get("answers")
    if not isinstance(told, list) or len(told) != count or not all(map(_is_answer, told)):
        raise SupmError("the aggregator's answers are not for these reports; check the address.")
    return [{name: each[name] for name in ("answer", "probability")} for each in told]


def _is_answer(told: object) -> bool:
    if not isinstance(told, dict) or type(told.get("answer")) not in (str, int, float):
        return False
    # A number, and not "is absent": the aggregator says null where it does not know.
    chance = told.get("probability", "absent")
    return chance is None or (type(chance) in (int, float) and 0 <= chance <= 1)


def standing(form: dict[str, Any]) -> Iterator[str]:
    """Say where a study stands, by its status."""
    purpose = f": {form['purpose']}" if form["purpose"] else ""
    yield f"Study {form['name']}{purpose}"
    if form.get("by") or form.get("contact"):
        contact = f" (contact: {form['contact']})" if form["contact"] else ""
        yield f"It is run by {form['by'] or 'somebody who gave no name'}{contact}."
    reports = ", ".join(
        f"{counted(count, 'report')} to {phase}" for phase, count in form["reports"].items()
    )
    yield f"It is {form['state']} ({reports or 'no reports'})."
    yield form["guarantee"]
