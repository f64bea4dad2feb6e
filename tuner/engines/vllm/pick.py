"""vLLM by itself: layer kind by layer kind the first backend of its order that takes it, and the flags that change that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from backends.asked import Asked
from backends.capability import BackendEntry
from backends.judgement import judge
from backends.model import LayerKind
from backends.question import Question
from backends.reason import Reason
from store.decision import Pair
from store.runs.run import DefaultPick
from store.scenario import Engine, Scenario
from tuner.engines.vllm.block_sizes import block_size_of, block_size_with
from tuner.engines.vllm.orders import Order, order_for
from tuner.engines.vllm.questions import question_for
from tuner.engines.vllm.rules import default_page_size, resolved_kv_dtype
from tuner.errors import UsageError

Packages = Mapping[str, str]


@dataclass(frozen=True)
class Chosen:
    """What serves the layers of ``kind``: the first of ``order`` that takes them, or the user's choice. ``passed`` are those before
    it with their reasons; ``backend`` None = none takes them, and the server does not start."""

    kind: LayerKind
    order: Order
    passed: tuple[tuple[str, tuple[Reason, ...]], ...]
    backend: str | None
    by_user: bool = False


def chosen(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None = None) -> tuple[Chosen, ...]:
    """One for each layer kind, in the model's order. Raises `UsageError` where a backend that vLLM tries is not among ``entries``."""
    question = question_for(scenario, rules, default_page_size(scenario.gpu), packages=packages)
    named = {entry.name: entry for entry in entries}
    return tuple(_chosen(question, kind, named, scenario.engine.attention_backend) for kind in question.layers)


def _chosen(question: Question, kind: LayerKind, named: Mapping[str, BackendEntry], wish: str | None) -> Chosen:
    asked = Asked(replace(question, layers=(kind,)))
    order = order_for(asked.kinds[0], question.rules)
    if order is None:
        raise UsageError(f"attnpin knows what vLLM picks on NVIDIA and AMD GPUs and on CPUs, not on {question.gpu.name}")
    by_user = wish is not None and (order.asked or wish in order.backends)
    passed = list[tuple[str, tuple[Reason, ...]]]()
    for name in (wish,) if wish is not None and by_user else order.backends:
        reasons = _against(_entry(named, name), asked)
        if not reasons:
            return Chosen(kind, order, tuple(passed), name, by_user)
        passed.append((name, reasons))
    return Chosen(kind, order, tuple(passed), None, by_user)


def _entry(named: Mapping[str, BackendEntry], name: str) -> BackendEntry:
    if name not in named:
        raise UsageError(f"vLLM would try {name} here, which backend=[...] leaves out; add vllm/{name.lower()}")
    return named[name]


def takers(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None = None) -> tuple[str, ...]:
    """The backends that no limit keeps from any layer."""
    asked = Asked(question_for(scenario, rules, default_page_size(scenario.gpu), packages=packages))
    return tuple(entry.name for entry in entries if not _against(entry, asked))


def _against(entry: BackendEntry, asked: Asked) -> tuple[Reason, ...]:
    """At the block size that the server would run with."""
    at_its_size = Asked(asked.question, asked.whole, asked.question.phase, partial(block_size_of, entry, asked))
    return judge(entry.capability, at_its_size).reasons


def default_of(picks: Iterable[Chosen]) -> Chosen:
    """The one that serves most layers, the first of equals; of those that serve none where no backend serves any."""
    return max(picks, key=lambda one: (one.backend is not None, one.kind.layers))


def default_pick(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None = None) -> DefaultPick:
    """What vLLM would serve the scenario with; where it would refuse to start, the first backend that it tries."""
    named = {entry.name: entry for entry in entries}
    picks = chosen(scenario, named.values(), rules, packages)
    pick = default_of(picks)
    backend = pick.backend or pick.passed[0][0]
    serving = {backend, *(one.backend for one in picks if one.backend is not None)}
    return DefaultPick(
        prefill=backend,
        decode=backend,
        page_size=max(block_size_with(scenario, named[name], rules, packages) for name in serving),  # powers of two: one for all
        kv_cache_dtype=resolved_kv_dtype(scenario.model, scenario.engine.kv_cache_dtype),
        because=f"{because(pick, scenario.engine)} (vLLM {rules})",
        rules_version=rules,
    )


def because(pick: Chosen, engine: Engine) -> str:
    if pick.by_user:
        return f"engine.attention_backend is set to {engine.attention_backend}"
    before = f", after {' and '.join(name for name, _ in pick.passed)}" if pick.passed else ""
    return f"{pick.order.condition} -> {pick.backend}{before}" if pick.backend else f"{pick.order.condition} -> none of {before[8:]}"


def pin_flags(pair: Pair, default: DefaultPick, page_size: int, engine: Engine, architecture: str = "") -> tuple[tuple[str, str], ...]:
    """The long options, without dashes, that make a server with nothing else set serve ``pair``: none where it would by itself. What the
    user chose is repeated. Raises `ValueError` for two backends: vLLM has one for both phases.

    Source: vllm/engine/arg_utils.py, --attention-backend and --block-size.
    """
    if pair.prefill != pair.decode:
        raise ValueError(f"vLLM serves both phases with one backend, not with {pair.prefill} and {pair.decode}")
    changed = pair.decode != default.decode or engine.attention_backend is not None
    backend = (("attention-backend", pair.decode),) if changed else ()
    block = (("block-size", str(page_size)),) if page_size != default.page_size or engine.page_size is not None else ()
    return (*backend, *block)
