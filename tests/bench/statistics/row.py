"""A claim about error rates, and how often it was seen to fail or hold."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import bdtr, bdtrc, betaincinv


@dataclass(frozen=True)
class Row:
    """``claim`` is its number (V1 to V11). ``seen`` times of ``of``; the rate should be at least ``low`` and at most ``high``."""

    claim: str
    what: str
    case: str
    low: float
    high: float
    seen: int
    of: int

    @property
    def rate(self) -> float:
        return self.seen / self.of

    @property
    def holds(self) -> bool:
        return self.low <= self.rate <= self.high

    def bounds(self, confidence: float = 0.95) -> tuple[float, float]:
        """Of the true rate, each by itself (Clopper and Pearson)."""
        miss = 1 - confidence
        lower = 0.0 if self.seen == 0 else float(betaincinv(self.seen, self.of - self.seen + 1, miss))
        upper = 1.0 if self.seen == self.of else float(betaincinv(self.seen + 1, self.of - self.seen, 1 - miss))
        return lower, upper

    def refuted(self, chance: float) -> bool:
        """Whether so many, or so few, would be seen with less than this ``chance`` if the claim were true."""
        too_many = self.high < 1 and self.seen > 0 and bdtrc(self.seen - 1, self.of, self.high) < chance
        too_few = self.low > 0 and bdtr(self.seen, self.of, self.low) < chance
        return bool(too_many or too_few)
