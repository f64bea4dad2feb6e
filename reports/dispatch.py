"""Which code ran before and after an upgrade, one sentence for all cells with the same change of an arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from store.verdicts.version_verdict import Dispatch

MORE = 6  # changes that are shown


def sentences(found: Sequence[Dispatch]) -> Iterator[str]:
    """What changed, then in one sentence what did not."""
    changed = grouped(each for each in found if _changed(each))
    yield from (_sentence(alike, found) for alike in changed[:MORE])
    if len(changed) > MORE:
        yield f"and {len(changed) - MORE} more; --json has all"
    same = [each for each in found if not _changed(each)]
    if known := dict.fromkeys(each.arm for each in same if each.code):
        yield f"the same machine code on every cell{' not named above' if changed else ''}: {', '.join(known)}"
    if told := dict.fromkeys(each.arm for each in same if each.code is None):
        yield f"kernels of the same names, whose machine code the driver does not tell: {', '.join(told)}"


def grouped(found: Iterable[Dispatch]) -> list[list[Dispatch]]:
    """By arm and by what became of it, in order of appearance."""
    groups: dict[tuple[object, ...], list[Dispatch]] = {}
    for each in found:
        groups.setdefault((each.arm, each.before, each.after, each.kernels, each.twin), []).append(each)
    return list(groups.values())


def unchanged_twin(each: Dispatch, found: Iterable[Dispatch]) -> Dispatch | None:
    """The arm that asks by name for what ``each`` was, where its machine code is the same on both sides."""
    return next((other for other in found if (other.arm, other.cell) == (each.twin, each.cell) and other.code), None)


def _changed(each: Dispatch) -> bool:
    return each.before != each.after or bool(each.kernels) or each.code is False


def _sentence(alike: Sequence[Dispatch], found: Sequence[Dispatch]) -> str:
    first, kernels = alike[0], f" ({alike[0].kernels})" if alike[0].kernels else ""
    where = f"{first.arm} on {', '.join(each.cell for each in alike)}"
    if first.before == first.after:
        return f"{where} runs other code on the same path ({first.after}){kernels}"
    return f"{where} now means {first.after}, and was {first.before}{_twin_of(alike, found)}{kernels}"


def _twin_of(alike: Sequence[Dispatch], found: Sequence[Dispatch]) -> str:
    """What the old path came to, where another arm asks for just that, and whether that one changed too."""
    twin = next((each for each in found if (each.arm, each.cell) == (alike[0].twin, alike[0].cell)), None)
    changed = "the dispatch changed"
    if twin is None:
        return f": {changed}"
    was = f", which then ran the kernels of {twin.before}"
    if not all(unchanged_twin(each, found) for each in alike):
        return f"{was}: {changed}"
    return f"{was}; {twin.arm} still runs the same machine code: {changed}, not a kernel"
