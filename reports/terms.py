"""What the terms that a pair of arms would serve on say: KV tokens, features, when kernels are built."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from backends.serving_jit import Builds
from store.decision import Pair
from store.engines.serving_terms import ServingTerms
from store.runs.run import Run

BUILDS = {Builds.PER_SHAPE: "while serving too", Builds.FIRST_USE: "once a machine", Builds.NEVER: "never"}

Terms = list[ServingTerms]
Shown = str | None


def reading(show: Callable[[Terms], Shown]) -> Callable[[Run, Pair], Shown]:
    """``show`` is given the terms of every arm of the pair; None where the run has not all of them."""

    def read(run: Run, pair: Pair) -> Shown:
        known = of_pair(run, pair)
        return show(known) if known else None

    return read


def of_pair(run: Run, pair: Pair) -> Terms:
    """Of every arm of the pair; none where one's are not known."""
    arms = dict.fromkeys((pair.prefill, pair.decode))
    known = [terms for terms in map(run.terms_of, arms) if terms]
    return known if len(known) == len(arms) else []


def pool_tokens(terms: Terms) -> Shown:
    """One page size serves both arms, so that their pool is one."""
    return None if terms[0].pool_tokens is None else str(terms[0].pool_tokens)


def unused_tokens(terms: Terms) -> Shown:
    return f"{terms[0].unused_tokens:g}"


def lacking(terms: Terms) -> Shown:
    return in_words(lacked(terms)) or "none"


def lacked(terms: Terms) -> tuple[str, ...]:
    """What either arm cannot serve, the server cannot."""
    return tuple(dict.fromkeys(feature for one in terms for feature in one.lacks))


def lost(run: Run, default: Pair, other: Pair) -> Shown:
    """The features that the default serves and ``other`` does not; "" for none."""
    before, after = (of_pair(run, pair) for pair in (default, other))
    return in_words(feature for feature in lacked(after) if feature not in lacked(before)) if before and after else None


def in_words(features: Iterable[str]) -> str:
    return ", ".join(features).replace("_", " ")


def kernel_builds(terms: Terms) -> Shown:
    """The gravest of the arms' answers; one that nobody has read is graver than that it never builds any while serving."""
    builds = [one.jit.builds if one.jit else None for one in terms]
    gravest = next(one for one in (Builds.PER_SHAPE, None, Builds.FIRST_USE, Builds.NEVER) if one in builds)
    return BUILDS[gravest] if gravest else None
