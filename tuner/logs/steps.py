"""What a scheduler prints of its work, whatever the engine."""

from __future__ import annotations

from typing import NamedTuple


class Began(NamedTuple):
    """A server starts."""


class Prefill(NamedTuple):
    """A batch of prompts, or of parts of them, between two decode lines."""


class Retracted(NamedTuple):
    """``requests`` gave their place in the KV pool up and will be computed again."""

    requests: int


class Decoded(NamedTuple):
    """The state at a decode line: requests ``running`` and ``queued``, KV ``tokens`` and ``usage`` (a share) of the pool, whether the
    step ran ``inside`` a graph, and tokens a second since the line before. None = it does not say."""

    running: int
    queued: int | None
    tokens: int | None
    usage: float | None
    inside: bool | None
    tokens_per_s: float | None

    @property
    def token_ms(self) -> float | None:
        """Milliseconds a token of each request."""
        return 1000 * self.running / self.tokens_per_s if self.tokens_per_s and self.running else None

    @property
    def tokens_per_request(self) -> float | None:
        """None where a line is printed between the end of requests and the next step: what runs holds tokens."""
        return self.tokens / self.running if self.tokens and self.running else None


Event = Began | Prefill | Retracted | Decoded
