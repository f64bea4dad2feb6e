"""vLLM's way to its pick in words: the order it tried, what it passed over and why, and why a server would not start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.reason import Reason
from store.engines.rule_path import RuleStep
from store.scenario import Scenario
from tuner.engines.vllm.chunks import chunked_layers
from tuner.engines.vllm.pick import Chosen, default_of


def path_of(picks: Iterable[Chosen]) -> tuple[RuleStep, ...]:
    """For each layer kind; steps that several share stand once."""
    return tuple(dict.fromkeys(step for pick in picks for step in _steps(pick)))


def _steps(pick: Chosen) -> Iterator[RuleStep]:
    order = pick.order
    if not pick.by_user:
        yield RuleStep(order.id, order.condition, f"tries {', '.join(order.backends)}", order.because, order.source)
    for name, reasons in pick.passed:
        asked = " and ".join(reason.asked for reason in reasons)
        allowed = "; ".join(reason.allowed for reason in reasons)
        yield RuleStep(
            f"validate.{name}",
            asked,
            f"refuses {name}" if pick.by_user else f"passes over {name}",
            f"It takes {allowed}.",
            _sources(reasons),
        )


def _sources(reasons: Iterable[Reason]) -> str:
    return "; ".join(dict.fromkeys(reason.source for reason in reasons))


def caveats(scenario: Scenario, picks: tuple[Chosen, ...]) -> Iterator[str]:
    """What a reader of the default must know."""
    default = default_of(picks)
    if chunked := chunked_layers(scenario.model):
        yield (
            f"vLLM captures no CUDA graph of attention within chunks, which {chunked} of {scenario.model.attention_layers} layers have: "
            f"with whatever backend, the others' attention is launched eagerly too"
        )
    for pick in picks:
        if pick.backend is not None and pick.backend != default.backend:
            other = f"the plan is {default.backend}'s, which serves most"
            yield f"vLLM chooses layer by layer and would serve the {pick.kind.name} layers with {pick.backend}; {other}"
    wish = scenario.engine.attention_backend
    if wish is not None and not any(pick.by_user for pick in picks):
        yield f"vLLM does not ask engine.attention_backend={wish} here and takes {default.backend} ({default.order.source})"
    lost = [name for name, reasons in default.passed if {reason.rule for reason in reasons} == {"block_size"}]
    if lost and not default.by_user:
        yield (
            f"engine.page_size={scenario.engine.page_size} costs vLLM {' and '.join(lost)}, which it would have taken first; "
            f"leave it unset, and the backend has its own"
        )


def refusals(scenario: Scenario, rules: str, picks: Iterable[Chosen]) -> Iterator[str]:
    """Why a server with these settings would not start."""
    said: dict[str, list[str]] = {}
    for pick in picks:
        if pick.backend is None:
            said.setdefault(_refused(pick), []).append(pick.kind.name)
    for why, kinds in said.items():
        yield f"vLLM {rules} would not start with these settings: in its {' and '.join(kinds)} layers {why}"


def _refused(pick: Chosen) -> str:
    said = "; ".join(f"{name} takes {reason.allowed}, not {reason.asked}" for name, reasons in pick.passed for reason in reasons)
    return f"{f'{pick.passed[0][0]}, your choice,' if pick.by_user else f'no backend of {pick.order.id}'} serves: {said}"
