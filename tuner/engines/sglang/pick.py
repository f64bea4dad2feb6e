"""SGLang by itself: which backends and page size it would serve a scenario with, and the flags that change that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.capability import BackendEntry
from store.decision import Pair
from store.runs.run import DefaultPick
from store.scenario import Engine, Role, Scenario
from tuner.engines.served import named, served_pair
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.resolution import answer_to
from tuner.engines.sglang.rules import resolved_kv_dtype
from tuner.engines.sglang.tree import because

Packages = Mapping[str, str]

# Their check reads both split flags and refuses one that is unset (sglang/srt/arg_groups/model_hook.py).
BOTH_SIDES_CHECKED = ("GptOssForCausalLM",)


def default_pick(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None = None) -> DefaultPick:
    """What the engine would run with the scenario's settings and no pin; where it would refuse to start, what it would run otherwise.

    ``rules`` is a member of `backends.question.RULES`; ``packages`` the import names and versions of the worker, None =
    FlashInfer is taken to be there.
    """
    answer = answer_to(scenario, rules, packages)
    found = answer.resolution
    assert found.prefill is not None and found.decode is not None, answer.request
    served = named(served_pair(Pair(found.prefill, found.decode), scenario.engine.role), entries)
    return DefaultPick(
        prefill=served.prefill,
        decode=served.decode,
        page_size=found.page_size or default_page_size(scenario.gpu),
        kv_cache_dtype=resolved_kv_dtype(scenario.model, found.kv_dtype),
        because=f"{_required(scenario)}{because(answer)} (SGLang {rules}){split_in_words(scenario.engine)}",
        rules_version=rules,
    )


def _required(scenario: Scenario) -> str:
    required = scenario.model.required_backend
    return f"model.required_backend={required} stands for a choice; " if required else ""


def split_in_words(engine: Engine) -> str:
    """What the user's split flags add, where they are not one and the same backend."""
    split = {"prefill": engine.prefill_attention_backend, "decode": engine.decode_attention_backend}
    chosen = [f"engine.{phase}_attention_backend is {backend}" for phase, backend in split.items() if backend is not None]
    return f"; {' and '.join(chosen)}" if chosen and split["prefill"] != split["decode"] else ""


def pin_flags(pair: Pair, default: DefaultPick, page_size: int, engine: Engine, architecture: str = "") -> tuple[tuple[str, str], ...]:
    """The long options, without dashes, that make a server with nothing else set serve ``pair`` (backend names) at
    ``page_size``: none where it would by itself. What the user chose is repeated as it was written.

    Different backends are written as both split flags: with one alone the other side keeps the hardware's default, and
    some models' checks read it as unset. A server of one phase gets that phase's flag alone, unless it drafts: which side verifies is
    another flag's choice. A page size is written wherever
    it is not the default's, also where the backend would force it, since not every spelling triggers that.
    """
    page = (("page-size", str(page_size)),) if page_size != default.page_size or engine.page_size is not None else ()
    if (pair.prefill, pair.decode) == (default.prefill, default.decode):
        chosen = tuple((field.replace("_", "-"), backend) for field, backend in engine.choices)
        return (*chosen, *page)
    if pair.prefill == pair.decode:
        side = engine.role is not Role.UNIFIED and engine.speculation.algorithm is None and architecture not in BOTH_SIDES_CHECKED
        return ((f"{engine.role.value}-attention-backend" if side else "attention-backend", pair.decode), *page)
    return (("prefill-attention-backend", pair.prefill), ("decode-attention-backend", pair.decode), *page)
