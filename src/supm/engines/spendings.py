"""What a party spent under its policy, in a file that only its owner may read."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from supm._errors import MessageError, ParameterError
from supm._json import read_object
from supm.engines.files import text_of_file
from supm.federation import FederatedStudy, Policy, Spent

_VERSION: Final = 1


class Spendings:
    """A party's record of what it spent, beside the policy that says how much it may be.

    Parameters
    ----------
    policy_path : Path
        The file of the policy; that of the spendings ends in ``.spent.json``.
    policy : Policy
        What is allowed.
    """

    def __init__(self, policy_path: Path, policy: Policy) -> None:
        self.path = policy_path.with_suffix(".spent.json")
        self._policy = policy

    @classmethod
    def of(cls, policy_path: Path) -> Spendings:
        """Return what was spent under the policy of a file."""
        text = text_of_file("policy", policy_path)
        try:
            return cls(policy_path, Policy.from_json(text))
        except MessageError as error:
            message = f"{policy_path}: {error}"
            raise MessageError(message) from None

    def check(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow; nothing is spent."""
        with self._opened() as file:
            self._policy.check(study, self._read(file))

    def charge(self, study: FederatedStudy) -> None:
        """Refuse a study that the policy does not allow, or write down what it costs."""
        with self._opened() as file:
            spent = self._read(file)
            spent.append(self._policy.check(study, spent))
            form = {"version": _VERSION, "spent": [each._asdict() for each in spent]}
            content = (json.dumps(form, indent=2) + "\n").encode()
            # The text only grows. Cut off by a crash it cannot be read, and is not taken for empty.
            os.pwrite(file, content, 0)
            os.ftruncate(file, len(content))
            # On the disk before anything leaves.
            os.fsync(file)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            hint = f"{error.strerror}; what is spent is kept beside the policy."
            wanted = "in a folder that can be written"
            raise ParameterError("policy", wanted, str(self.path), hint) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _read(self, file: int) -> list[Spent]:
        text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
        if not text:
            return []
        form = read_object(text, "record of what is spent", MessageError)
        try:
            if form.get("version") == _VERSION and isinstance(form["spent"], list):
                return [Spent.from_form(each) for each in form["spent"]]
        except (KeyError, MessageError):
            pass
        message = f"{self.path} is no record of what is spent; without it nothing can be allowed."
        raise MessageError(message)
