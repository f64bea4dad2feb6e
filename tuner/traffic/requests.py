"""Requests in columns: what a log or a data set asks of a server."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Requests:
    """One entry a request, in order of arrival. ``arrival_s`` counts from the first; None = nobody wrote it down. ``cached`` of the
    ``prompt`` tokens are found in the prefix cache, ``shared`` of them are the first tokens of every prompt."""

    arrival_s: Floats | None
    prompt: Ints
    output: Ints
    cached: Ints
    shared: int = 0

    def __len__(self) -> int:
        return len(self.prompt)

    @property
    def sha256(self) -> str:
        """Of the numbers; the file they came in does not count."""
        digest = hashlib.sha256()
        columns: tuple[npt.NDArray[Any], ...] = (self.prompt, self.output, self.cached)
        for column in (*columns, *(() if self.arrival_s is None else (self.arrival_s,))):
            digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    def every(self, groups: int) -> Requests:
        """Those of one of ``groups`` of ranks that take turns."""
        arrival_s = None if self.arrival_s is None else self.arrival_s[::groups]
        return Requests(arrival_s, self.prompt[::groups], self.output[::groups], self.cached[::groups], self.shared)

    def answered(self, longest: int) -> Requests:
        """Without those that a server refuses, since no token of an answer fits behind their prompt in ``longest``.

        Source: sglang/srt/managers/tokenizer_manager.py, _validate_one_request: an input of the context's length and more is an error.
        """
        kept = self.prompt < longest
        if kept.all():
            return self
        arrival_s = None if self.arrival_s is None else self.arrival_s[kept]
        return Requests(arrival_s, self.prompt[kept], self.output[kept], self.cached[kept], self.shared)

    def fitted(self, longest: int, page_size: int) -> Requests:
        """Cut to what a server takes of a request, ``longest`` tokens in all; cached are whole pages, and one token is always computed."""
        prompt = np.clip(self.prompt, 1, max(1, longest - 1))
        cached = np.minimum(self.cached // page_size * page_size, prompt - 1)
        return Requests(self.arrival_s, prompt, np.clip(self.output, 1, longest - prompt + 1), cached, self.shared)
