"""The exception of this package."""

from __future__ import annotations

import json


class Error(Exception):
    """What the compiler refuses, or what does not agree in a call.

    `code` is that of the page `docs/errors/CODE.md` (`lozenge explain CODE` shows it), `message` is
    one sentence, `rendered` the whole diagnostic with the place in the source, and `diagnostics`
    are all of them as values: code, message, file, labels with lines and columns, notes, help.
    """

    def __init__(self, code: str, message: str, rendered: str = "", diagnostics: str = "[]"):
        super().__init__(rendered or f"error[{code}]: {message}")
        self.code = code
        self.message = message
        self.rendered = rendered
        self.diagnostics: list[dict] = json.loads(diagnostics)
        self._data = diagnostics

    def __reduce__(self):
        return (type(self), (self.code, self.message, self.rendered, self._data))
