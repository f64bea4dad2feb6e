"""Of the library that SGLang's benchmark reads tokenizers with."""

from __future__ import annotations


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name: str) -> None:
        pass
