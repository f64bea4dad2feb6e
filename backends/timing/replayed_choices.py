"""What a library would choose by timing it itself, chosen in this process as it was chosen in another one.

Triton's autotuner asks its cache before it times anything (triton/runtime/autotuner.py, Autotuner.run, 2.1 to 3.6): there lies the other
process's choice. FlashInfer's own tuner keeps what cannot be told in words, and chooses for itself.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from backends.timing.autotuned import kernel_name, problem, said

Choices = Mapping[str, str]


class Replayed(dict[Any, Any]):
    """A tuner's cache that knows what to choose for the problems of ``choices``, as far as the tuner has that configuration and no
    other of the same words, which are cut."""

    def __init__(self, tuner: Any, choices: Choices) -> None:
        super().__init__(tuner.cache)
        self._name = kernel_name(tuner)
        words = Counter(map(said, tuner.configs))
        self._configs = {said(config): config for config in tuner.configs if words[said(config)] == 1}
        self._choices = choices

    def __contains__(self, key: object) -> bool:
        if not super().__contains__(key) and (config := self._configs.get(self._choices.get(problem(self._name, key), ""))):
            self[key] = config
        return super().__contains__(key)


def replay(choices: Choices) -> None:
    """From now on; nothing happens without choices, or without Triton."""
    if not choices:
        return
    try:
        module: Any = importlib.import_module("triton.runtime.autotuner")
    except ImportError as error:
        print(f"no choice is replayed: {error}", file=sys.stderr)
        return
    run = module.Autotuner.run

    def replayed(tuner: Any, *arguments: Any, **named: Any) -> Any:
        if not isinstance(tuner.cache, Replayed):
            tuner.cache = Replayed(tuner, choices)
        return run(tuner, *arguments, **named)

    module.Autotuner.run = replayed
