"""Causes in figures of attention, then and now, that somebody states; and whether attention moved at all. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from store.serving.triaged import Cause, Ground, Kind, Proof
from store.verdicts.checked import Answer
from tuner.triaging.cause import cause
from tuner.triaging.figure_words import words, worst
from tuner.triaging.figures import ATTENTION, Figure
from tuner.triaging.signs import Signs

SLOW = (Answer.REGRESSED, Answer.SUSPECT)
LONGER = "measure longer contexts too, on which another kernel shows: {tune}"
LONG = "traffic=long_context"
EAGER = "none"


def attention_slower(signs: Signs) -> bool:
    """By what was measured or is stated."""
    return bool(slower_rows(signs)) or (signs.screened is not None and signs.screened.answer in SLOW)


def cleared(signs: Signs) -> Proof | None:
    """That attention stands still where it serves, as far as figures tell."""
    said = [each for each in served(signs) if each.change is not None]
    return Proof("; ".join(map(words, said))) if said and not slower_rows(signs) else None


def served(signs: Signs) -> list[Figure]:
    """Rows of attention, of what the pin serves with."""
    return [each for each in signs.stated if each.component == ATTENTION and (each.backend is None or each.backend in signs.served)]


def slower_rows(signs: Signs) -> list[Figure]:
    return [each for each in served(signs) if each.slower]


def causes(signs: Signs) -> Iterator[Cause]:
    rows, slower = served(signs), slower_rows(signs)
    proofs = [Proof(words(each)) for each in rows if each.change is not None]
    changed = [each for each in rows if each.detail("kernels_before") != each.detail("kernels_after")]
    if slower and _eager_alone(rows, slower):
        sentence = f"the host launches more slowly: what is launched eagerly became slower, what a graph replays did not: {worst(slower)}"
        yield cause(Kind.LAUNCHES, Ground.MEASURED, sentence, proofs, [f"measure the launches: {signs.check}"])
    elif changed or _one_arm_alone(rows, slower):
        sentence, ways = _dispatch(signs, rows, slower)
        yield cause(Kind.DISPATCH, Ground.MEASURED, sentence, [*proofs, *map(_kernels, changed)], ways)
    elif slower:
        sentence = f"attention is slower where it serves: {worst(slower)}"
        yield cause(Kind.ATTENTION, Ground.MEASURED, sentence, proofs, [f"see whether it is the release: {signs.check}"])
    if others := [each for each in signs.stated if each.component == ATTENTION and each not in rows and each.slower]:
        sentence = f"{others[0].backend} became slower, which does not serve: the pin stays, and this is not what makes the server slow"
        yield cause(Kind.RIVAL, Ground.MEASURED, sentence, [Proof(words(each)) for each in others], [signs.check])


def _eager_alone(rows: Sequence[Figure], slower: Sequence[Figure]) -> bool:
    return all(each.graph == EAGER for each in slower) and any(each.still and each.graph not in (None, EAGER) for each in rows)


def _one_arm_alone(rows: Sequence[Figure], slower: Sequence[Figure]) -> bool:
    """Of one backend, phase and metric one arm became slower and another did not."""
    still = {(each.backend, each.phase, each.metric, each.arm) for each in rows if each.still and each.arm}
    return any((each.backend, each.phase, each.metric) == one[:3] and each.arm not in (None, one[3]) for each in slower for one in still)


def _dispatch(signs: Signs, rows: Sequence[Figure], slower: Sequence[Figure]) -> tuple[str, list[str]]:
    if not slower:
        return "other kernels run under the same name, no slower where they were timed", [LONGER.format(tune=signs.tune(LONG)), signs.check]
    still = ", ".join(dict.fromkeys(each.arm for each in rows if each.still and each.arm))
    beside = f", while {still} of the same backend is as fast as before" if still else ""
    what = f"no kernel became slower, the request came to mean others{beside}" if still else "other kernels run under the same name"
    return f"{what}: {worst(slower)}", [f"name the kernels that were measured, or the release before: {signs.check}"]


def _kernels(each: Figure) -> Proof:
    before, after = (", ".join(map(str, each.detail(key) or ())) or "none" for key in ("kernels_before", "kernels_after"))
    return Proof(f"kernels: {after} now, {before} before")
