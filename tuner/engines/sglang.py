"""SGLang by itself: which backends and page size it would serve a scenario with, and the flags that change that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from backends.capability import BackendEntry
from backends.cell import Phase
from store.decision import Pair
from store.run import DefaultPick
from store.scenario import Engine, Scenario
from tuner.engines.sglang_pages import DEFAULT_PAGE_SIZE, effective_page_size
from tuner.engines.sglang_questions import question_for
from tuner.engines.sglang_rules import MODEL_OVERRIDES, final_topk, resolved_kv_dtype
from tuner.engines.sglang_tree import Situation, tree_pick

Packages = Mapping[str, str]

DEEPSEEK_TYPE = (
    "DeepseekV2ForCausalLM",
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)


@dataclass(frozen=True)
class Choice:
    """SGLang's three fields, None = unset, and how they came about."""

    base: str
    prefill: str | None
    decode: str | None
    because: str

    @property
    def pair(self) -> Pair:
        return Pair(self.prefill or self.base, self.decode or self.base)


def default_pick(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None = None) -> DefaultPick:
    """What the engine would run with the scenario's settings and no pin. A backend the user chose is kept as chosen.

    ``rules`` is a member of `backends.question.RULES`; ``packages`` the import names and versions of the worker, None =
    FlashInfer is taken to be there. Per-model overrides (`MODEL_OVERRIDES`) are not applied.
    """
    choice = choose(situation_of(scenario, rules, packages), scenario.engine)
    named = {name: entry for entry in entries for name in (entry.name, *entry.aliases)}
    prefill, decode = (named[name].name if name in named else name for name in (choice.pair.prefill, choice.pair.decode))
    question = question_for(scenario, rules, DEFAULT_PAGE_SIZE)
    return DefaultPick(
        prefill=prefill,
        decode=decode,
        page_size=effective_page_size(_serving(choice, named), question),
        kv_cache_dtype=resolved_kv_dtype(scenario.model, scenario.engine.kv_cache_dtype),
        because=f"{choice.because} -> {choice.base} (SGLang {rules}){split_in_words(scenario.engine)}",
        rules_version=rules,
    )


def split_in_words(engine: Engine) -> str:
    """What the user's split flags add, where they are not one and the same backend."""
    split = {"prefill": engine.prefill_attention_backend, "decode": engine.decode_attention_backend}
    chosen = [f"engine.{phase}_attention_backend is {backend}" for phase, backend in split.items() if backend is not None]
    return f"; {' and '.join(chosen)}" if chosen and split["prefill"] != split["decode"] else ""


def situation_of(scenario: Scenario, rules: str, packages: Packages | None) -> Situation:
    engine = scenario.engine
    flashinfer = scenario.gpu.kind == "cuda" and (packages is None or "flashinfer" in packages)
    return Situation(scenario.model, scenario.gpu, engine.tensor_parallel, engine.speculation, engine.page_size, flashinfer, rules)


def choose(situation: Situation, engine: Engine) -> Choice:
    """The three fields after SGLang's passes, in its order: split flags, platform, determinism, tree, fallbacks.

    Source: sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility, and the passes it runs
    (0.5.16: the same passes from sglang/srt/server_args.py).
    """
    prefill, decode = engine.prefill_attention_backend, engine.decode_attention_backend
    base, because = _base(situation, engine)
    base, because = _fallback(situation, engine.kv_cache_dtype, base, because)
    if "cutedsl_mla" in (base, decode) and prefill is None:
        prefill, because = "trtllm_mla", f"{because}; cutedsl_mla only decodes"
    return Choice(base, prefill, decode, because)


def _base(situation: Situation, engine: Engine) -> tuple[str, str]:
    if engine.prefill_attention_backend is not None and engine.prefill_attention_backend == engine.decode_attention_backend:
        return engine.prefill_attention_backend, "engine.prefill_ and decode_attention_backend are both set to it"
    if engine.attention_backend is not None:
        return engine.attention_backend, "engine.attention_backend is set to it"
    if situation.gpu.kind == "cpu":
        return "intel_amx", "device cpu"
    if "deterministic" in engine.features:
        return _deterministic(situation), "deterministic inference"
    return tree_pick(situation)


def _deterministic(situation: Situation) -> str:
    """Source: sglang/srt/arg_groups/overrides.py, _deterministic_attention_backend."""
    if not (situation.sm100 or situation.sm120):
        return "fa3"
    return "triton" if situation.model.architecture in DEEPSEEK_TYPE else "flashinfer"


def _fallback(situation: Situation, kv_flag: str, base: str, because: str) -> tuple[str, str]:
    """Source: sglang/srt/arg_groups/overrides.py, _attention_backend_fa3_fp8_fallback and _attention_backend_platform_fallbacks."""
    if base == "fa3" and kv_flag == "fp8_e5m2":
        return "triton", f"{because} -> fa3, which takes no fp8_e5m2"
    if base == "intel_amx" and situation.gpu.kind == "cpu" and not situation.gpu.amx:
        return "torch_native", f"{because} -> intel_amx, but the processor has no AMX"
    return base, because


def _serving(choice: Choice, named: Mapping[str, BackendEntry]) -> list[tuple[BackendEntry, Phase]]:
    """Who has a say in the page size: the base in both phases, though a split field may take one from it, and the pair."""
    both, pair = [(choice.base, phase) for phase in Phase], choice.pair
    fields = [*both, (pair.prefill, Phase.PREFILL), (pair.decode, Phase.DECODE)]
    return [(named[name], phase) for name, phase in fields if name in named]


def caveats(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None) -> tuple[str, ...]:
    """What a reader must know about the default: an override that is not applied, a spelling that would change it."""
    return tuple(note for note in (_override(scenario), _spelling(scenario, tuple(entries), rules, packages)) if note)


def _override(scenario: Scenario) -> str | None:
    module = MODEL_OVERRIDES.get(scenario.model.architecture)
    if module is None:
        return None
    return f"SGLang replaces the default of {scenario.model.architecture} itself (model_overrides/{module}.py); that is not applied here"


def _spelling(scenario: Scenario, entries: tuple[BackendEntry, ...], rules: str, packages: Packages | None) -> str | None:
    """Draft parameters left out are filled in after the default was chosen; written out they may change it."""
    speculation = scenario.engine.speculation
    if speculation.algorithm is None or speculation.topk is not None:
        return None
    topk = final_topk(scenario.model, speculation)
    written = replace(scenario, engine=replace(scenario.engine, speculation=replace(speculation, topk=topk)))
    here, there = (default_pick(case, entries, rules, packages) for case in (scenario, written))
    if (here.prefill, here.decode) == (there.prefill, there.decode):
        return None
    return f"with topk left out SGLang picks {here.decode}; with topk={topk}, which it fills in later, written out it picks {there.decode}"


def pin_flags(pair: Pair, default: DefaultPick, page_size: int) -> tuple[tuple[str, str], ...]:
    """The long options, without dashes, that make the engine serve ``pair`` (backend names) at ``page_size``; none where
    it would by itself.

    Different backends are written as both split flags: with one alone the other side keeps the hardware's default, and
    some models' checks read it as unset. A page size is written wherever it is not the default's, also where the backend
    would force it, since not every spelling triggers that.
    """
    if (pair.prefill, pair.decode, page_size) == (default.prefill, default.decode, default.page_size):
        return ()
    page = () if page_size == default.page_size else (("page-size", str(page_size)),)
    if (pair.prefill, pair.decode) == (default.prefill, default.decode):
        return page
    if pair.prefill == pair.decode:
        return (("attention-backend", pair.decode), *page)
    return (("prefill-attention-backend", pair.prefill), ("decode-attention-backend", pair.decode), *page)
