"""What each column of the limits table says of a backend: the shortest words that are still the data's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from backends.allowed import Allowed
from backends.capability import BackendEntry
from backends.limits import Limit, listed
from backends.question import KNOWN_SM
from backends.vocabulary import LIBRARIES
from reports.terms import BUILDS

Limits = tuple[Limit, ...]
Cell = Callable[[BackendEntry, Limits], str]
Columns = Mapping[str, Cell]
Shorten = Callable[[tuple[Allowed, ...]], Iterable[str]]

DTYPES = {
    **{"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"},
    "fp4_mx_block16": "fp4mx",
}
NONE, PARTLY, SOMETIMES = "no", "*", "if"
EMPTY_LEGEND = f"An empty cell: no limit is known; {PARTLY}: one under a condition, see below."
DTYPE_LEGEND = "e4m3, e5m2: FP8; fp4mx: fp4_mx_block16. (else 64): the page size is changed to it silently. Heads are those of a rank."
REFUSED_LEGEND = f"{NONE}: refused, or answered wrongly; {SOMETIMES}: refused under a condition"
TRAIT_LEGEND = f"{REFUSED_LEGEND}. Indexed keys: those that an index of the model's own chooses."
FEATURE_LEGEND = f"{REFUSED_LEGEND}; numbers: what is taken."
PATH_LEGEND = "Which kernels a name stands for; limits may speak of them."
NOTE_LEGEND = "No reason against a backend: what it does there, to be measured or checked."
DEVIATION_LEGEND = (
    "What a backend computes otherwise than the model asks. Its answers are held to that or to the model's own: what runs so "
    "anyway is measured and may stay, with a caution; it takes another arm's place only with engine.allow_deviations=true. Keys seen: "
    "against the window."
)
REFUSED = {  # where a word's own text needs a value
    **{"widths": "unequal K/V widths", "speculation": "speculative decoding", "scale": "softmax scale of its own"},
    **{"soft_cap": "logit soft cap", "sliding_window": "sliding window"},
}


def in_words(limit: Limit) -> str:
    """What is taken, in the words of a reason, and what a misfit silently becomes."""
    taken = listed(limit.rule, limit.allowed) if limit.allowed else f"no {REFUSED.get(limit.rule) or listed(limit.rule, ())}"
    return taken + _changed(limit)


def _plainly(items: tuple[Allowed, ...]) -> Iterable[str]:
    return map(str, items)


def _values(rule: str, shorten: Shorten = _plainly) -> Cell:
    """The unconditional limit of ``rule``; a star where another one narrows it further."""

    def cell(_: BackendEntry, limits: Limits) -> str:
        plain = [limit for limit in limits if limit.rule == rule and not limit.when]
        partly = PARTLY if any(limit.rule == rule and limit.when for limit in limits) else ""
        said = "; ".join(_said(limit, shorten) for limit in plain)
        return f"{said}{partly}"

    return cell


def _said(limit: Limit, shorten: Shorten) -> str:
    return (", ".join(shorten(limit.allowed)) if limit.allowed else NONE) + _changed(limit)


def _changed(limit: Limit) -> str:
    return f" (else {limit.becomes})" if limit.becomes is not None else ""


def _short_dtypes(items: tuple[Allowed, ...]) -> Iterable[str]:
    return (DTYPES.get(str(item), str(item)) for item in items)


def _sm_spans(items: tuple[Allowed, ...]) -> Iterator[str]:
    """Neighbours among the known compute capabilities are drawn together: 80-90."""
    places = enumerate(KNOWN_SM.index(item) for item in items if item in KNOWN_SM)
    for _, run in groupby(places, lambda pair: pair[1] - pair[0]):
        found = [KNOWN_SM[place] for _, place in run]
        yield str(found[0]) if len(found) == 1 else f"{found[0]}-{found[-1]}"
    yield from (str(item) for item in items if item not in KNOWN_SM)


def _together(first: Cell, *rules: str) -> Cell:
    """Several limits in one column, those of ``rules`` in their words' own text."""

    def cell(entry: BackendEntry, limits: Limits) -> str:
        others = [in_words(limit) for limit in limits if limit.rule in rules and not limit.when]
        return "; ".join(said for said in (first(entry, limits), *others) if said)

    return cell


def _either(*cells: Cell) -> Cell:
    """Cells of which a backend fills one: NVIDIA's architectures, another maker's; one engine's words, another's."""
    return lambda entry, limits: "; ".join(said for cell in cells if (said := cell(entry, limits)))


def _models(entry: BackendEntry, limits: Limits) -> str:
    own = next((limit for limit in limits if limit.rule == "architecture" and not limit.when), None)
    partly = PARTLY if any(limit.rule == "architecture" and limit.when for limit in limits) else ""
    said = _values("attention")(entry, limits) if own is None else own.why or ", ".join(map(str, own.allowed))
    return said + partly


def _kv_cache(entry: BackendEntry, limits: Limits) -> str:
    """Where the engine has words of its own for all of them, these."""
    dtypes, spelled = _values("kv_dtype", _short_dtypes)(entry, limits), _values("kv_flag")(entry, limits)
    return f"{dtypes} (spelled {spelled})" if dtypes and spelled else dtypes or spelled


def _driven(entry: BackendEntry, _: Limits) -> str:
    devices = ", ".join(dict.fromkeys(device for driver in entry.drivers for device in driver.devices))
    return devices or (NONE if entry.undriven else "")


def _feature(*rules: str) -> Cell:
    def cell(_: BackendEntry, limits: Limits) -> str:
        of_rule = [limit for limit in limits if limit.rule in rules]
        if any(not limit.when and not limit.allowed for limit in of_rule):
            return NONE
        taken = [_said(limit, _plainly) for limit in of_rule if not limit.when]
        return "; ".join(taken) or (SOMETIMES if of_rule else "")

    return cell


PLACES: Columns = {
    "devices": _values("device"),
    "SM or architecture": _together(
        _either(_values("sm", _sm_spans), _values("arch")), "cpu", "cuda", "path", "engine", "fa_version", *LIBRARIES
    ),
    "models": _together(_models, "images"),
    "phases": _values("phase"),
    "CUDA graphs": lambda entry, _: "yes" if entry.graph else NONE,
    "builds kernels": lambda entry, _: BUILDS[entry.jit.builds] if entry.jit else "",
    "measured on": _driven,
}
SHAPES: Columns = {
    "page sizes": _together(_either(_values("page_size"), _values("block_size")), "fa_page"),
    "KV cache": _together(_kv_cache, "kv_kind"),
    "model": _together(_values("dtype", _short_dtypes), "query_dtype"),
    "head dims": _together(_either(_values("head_dim"), _values("head_size")), "nope_dim", "rope_dim", "latent_rank"),
    "unequal K/V": _either(_values("widths"), _values("kv_widths")),
    "query heads per KV head": _together(_values("group"), "query_heads", "gathered_heads", "shared_memory_kib", "pool_elements"),
}
TRAITS: Columns = {
    "sinks": _feature("sinks"),
    "soft cap": _feature("soft_cap"),
    "window": _feature("sliding_window"),
    "own scale": _feature("scale"),
    "indexed keys": _together(_feature("indexed_keys", "keys"), "index_topk"),
    "gated delta": _feature("gated_delta"),
}
FEATURES: Columns = {
    "topk": _feature("topk"),
    "drafts": _feature("speculation", "speculative"),
    "determ.": _feature("deterministic"),
    "radix": _feature("radix_cache"),
    "cross": _feature("cross_attention"),
    "encoder": _feature("encoder_only"),
    "scoring": _feature("multi_item_scoring"),
    "context parallel": _feature("dcp_size", "attn_cp_size"),
}
