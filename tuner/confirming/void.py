"""Why two servers cannot be compared: more than the pin's choice differs between them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from store.serving.serving_run import ServedStart
from store.serving.verified import KV_DTYPE
from tuner.engines.choices import BACKEND, PAGE_SIZE, Choices

POOL_TOLERANCE = 0.01  # free memory is never the same twice; a hundredth of the pool changes no batch
OF_A_START = frozenset({"port", "random_seed", "nccl_port", "dist_init_addr", "launch_command"})  # new with each


def void(starts: Sequence[ServedStart], choices: Choices, flags: Collection[str]) -> tuple[str, ...]:
    """Sentences; empty where both sides may be compared, or where a side has no start yet. ``flags``: options either side was given."""
    faults = [f"with the pin the server is not what was pinned, {start.fault}" for start in starts if start.fault]
    pinned, against = ([start for start in starts if start.pinned is side] for side in (True, False))
    if faults or not pinned or not against:
        return tuple(dict.fromkeys(faults))
    found = (_same(pinned, against), _graphs(pinned, against), _pool(pinned, against), _kv_dtype(pinned, against))
    return (*filter(None, found), *_third(pinned, against, choices, flags))


Side = Sequence[ServedStart]


def _same(pinned: Side, against: Side) -> str | None:
    one, other = pinned[0].serves, against[0].serves
    return "both sides serve the same backends, so there is nothing to compare" if one and one == other else None


def _graphs(pinned: Side, against: Side) -> str | None:
    one, other = {start.graphs for start in pinned}, {start.graphs for start in against}
    if one != other:
        return f"graph replay differs: decode {_replays(one)} with the pin and {_replays(other)} without it"
    sizes = {start.graph_sizes for start in pinned}, {start.graph_sizes for start in against}
    if sizes[0] != sizes[1]:
        return f"graph replay differs: captured batch sizes are {_listed(sizes[0])} with the pin and {_listed(sizes[1])} without it"
    return None


def _replays(on: set[bool | None]) -> str:
    words = {True: "replays CUDA graphs", False: "replays none", None: "does not say whether it replays any"}
    return " or ".join(sorted(words[each] for each in on))


def _listed(sizes: set[tuple[int, ...]]) -> str:
    return " or ".join(" ".join(map(str, each)) or "not said" for each in sorted(sizes))


def _pool(pinned: Side, against: Side) -> str | None:
    one, other = ([start.pool_tokens for start in side if start.pool_tokens is not None] for side in (pinned, against))
    if not one or not other:
        return None
    pair = sum(one) / len(one), sum(other) / len(other)
    if max(pair) / min(pair) - 1 <= POOL_TOLERANCE:
        return None
    return f"the KV pool differs: {pair[0]:.0f} tokens with the pin and {pair[1]:.0f} without it; give CMD a pool size that both hold"


def _kv_dtype(pinned: Side, against: Side) -> str | None:
    one, other = ({dict(start.serves).get(KV_DTYPE) for start in side} for side in (pinned, against))
    return f"the KV dtype differs: {_words(one)} with the pin and {_words(other)} without it" if one != other else None


def _words(values: Collection[str | None]) -> str:
    return " or ".join(sorted(str(value) for value in values))


def _third(pinned: Side, against: Side, choices: Choices, flags: Collection[str]) -> Iterator[str]:
    """Arguments that are the same in every start of a side and differ between the sides, unless a side was given them, or they are the
    pin's choice itself."""
    chosen = {name for name, choice in choices.options.items() if choice in (BACKEND, PAGE_SIZE)} | set(flags)
    passed = OF_A_START | {name.replace("-", "_") for name in chosen}
    one, other = _constant(pinned), _constant(against)
    for name in sorted((one.keys() & other.keys()) - passed):
        if one[name] != other[name]:
            yield f"a third setting differs: {name} is {one[name]} with the pin and {other[name]} without it; set it in CMD"


def _constant(side: Side) -> dict[str, str]:
    first = dict(side[0].settings)
    return {name: value for name, value in first.items() if all(dict(start.settings).get(name) == value for start in side)}
