"""What a quantized checkpoint says of its weights and of the KV cache it was calibrated for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tuner.hf.fields import Config, count, flag, part, text

FP8 = "float8_e4m3fn"
UNQUANTIZED_BITS = {"bfloat16": 16.0, "float16": 16.0, "float32": 32.0}
# Bits a weight takes with its block scales: FP8 scales on 16 values (NVFP4), 8-bit ones on 32 (MX), 16-bit ones on 64 (bitsandbytes)
BY_METHOD = {"fp8": 8.0, "fbgemm_fp8": 8.0, "w8a8_int8": 8.0, "w8a8_fp8": 8.0, "mxfp4": 4.25, "mxfp8": 8.25}
BY_ALGORITHM = {"FP8": 8.0, "FP8_PB_WO": 8.0, "MXFP8": 8.25, "NVFP4": 4.5, "W4A16_NVFP4": 4.5, "W4A8_AWQ": 4.25, "W4A16_AWQ": 4.25}
WIDEST = 32  # bits
KEPT_LISTS = ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules")


@dataclass(frozen=True)
class Quantization:
    """``bits`` of a quantized weight, None = none is; ``keeps_attention``: its projections stay as they were. ``kv_dtype`` is
    a torch name, None = the model's."""

    bits: float | None = None
    keeps_attention: bool = False
    kv_dtype: str | None = None
    notes: tuple[str, ...] = ()


def quantization_of(config: Config, modelopt: Config | None) -> Quantization:
    """From ``quantization_config``, or from what ModelOpt left beside the configuration."""
    found = part(config, "quantization_config") or part(config, "compression_config") or modelopt
    if not found:
        return Quantization()
    inner = part(found, "quantization") or found  # hf_quant_config.json has it one level down
    bits, kv_dtype = _bits(inner), _kv_dtype(inner)
    return Quantization(bits, _keeps_attention(inner), kv_dtype, tuple(_notes(inner, bits, kv_dtype)))


def average_bits(quantization: Quantization, dtype: str, total: float, kept: float) -> float | None:
    """Bits of a stored parameter on average, of ``total`` of which ``kept`` are not quantized; None where none is."""
    if quantization.bits is None:
        return None
    return (quantization.bits * (total - kept) + UNQUANTIZED_BITS[dtype] * kept) / total


def _method(found: Config) -> str:
    return (text(found, "quant_method") or text(found, "quantization_method") or "").lower()


def _bits(found: Config) -> float | None:
    algorithm = text(found, "quant_algo")
    if algorithm == "MIXED_PRECISION":
        return _mixed(found)
    if algorithm is not None:
        return BY_ALGORITHM.get(algorithm.upper())
    method = _method(found)
    if method in ("awq", "gptq", "gptq_marlin", "awq_marlin", "auto-round"):
        return _grouped(count(found, "bits", 1, WIDEST) or count(found, "w_bit", 1, WIDEST), found)
    if method == "bitsandbytes":
        return 4.5 if flag(found, "load_in_4bit") or flag(found, "_load_in_4bit") else 8.0
    if method == "compressed-tensors":
        return _compressed(found)
    return BY_METHOD.get(method)


def _mixed(found: Config) -> float | None:
    """The narrowest of its layers, which are the experts'."""
    named = [layer.get("quant_algo") for layer in (part(found, "quantized_layers") or {}).values() if isinstance(layer, dict)]
    return min((BY_ALGORITHM[name] for name in named if isinstance(name, str) and name in BY_ALGORITHM), default=None)


def _grouped(bits: int | None, found: Config) -> float | None:
    """A 16-bit scale and a zero point on each group."""
    size = found.get("group_size") or found.get("q_group_size")
    if bits is None:
        return None
    return bits + (16 + bits) / size if type(size) is int and size > 0 else float(bits)


def _compressed(found: Config) -> float | None:
    """The narrowest weights of its groups."""
    groups = (part(found, "config_groups") or {}).values()
    weights = [weights for group in groups if isinstance(group, dict) and (weights := part(group, "weights"))]
    widths = [_grouped(count(weight, "num_bits", 1, WIDEST), weight) for weight in weights]
    return min((width for width in widths if width is not None), default=None)


def _keeps_attention(found: Config) -> bool:
    names = [name for key in KEPT_LISTS for name in _strings(found.get(key))]
    return any("attn" in name or "attention" in name for name in names)


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _kv_dtype(found: Config) -> str | None:
    """FP8 where the engine takes it under `--kv-cache-dtype auto`.

    Source: sglang/srt/layers/quantization/modelopt_quant.py, fp8.py and compressed_tensors.py, kv_cache_quant_algo (0.5.22).
    """
    scheme, narrow = found.get("kv_cache_scheme"), "FP4" in (text(found, "quant_algo") or "")
    if isinstance(scheme, dict):
        return FP8 if _static(scheme, strict=_method(found) == "compressed-tensors") else None
    if isinstance(scheme, str) and narrow:  # the other algorithms' classes read objects alone
        return FP8 if scheme.strip().upper() in ("FP8", "FLOAT8") else None
    algorithm = found.get("kv_cache_quant_algo")
    return FP8 if isinstance(algorithm, str) and algorithm.upper() == "FP8" else None


def _static(scheme: Config, strict: bool) -> bool:
    """compressed-tensors must be calibrated, one symmetric scale a tensor."""
    eight = scheme.get("type") == "float" and scheme.get("num_bits") == 8
    calibrated = scheme.get("strategy") == "tensor" and scheme.get("symmetric", True) is True and not scheme.get("dynamic", False)
    return eight and (calibrated or not strict)


def _notes(found: Config, bits: float | None, kv_dtype: str | None) -> Iterator[str]:
    if bits is None:
        named = text(found, "quant_algo") or _method(found) or "without a method"
        yield f"quantization {named!r:.60} of config.json is unknown to attnpin: weights are taken at the model's dtype"
    asked = found.get("kv_cache_scheme") or found.get("kv_cache_quant_algo")
    if asked and kv_dtype is None:
        yield f"config.json asks for a quantized KV cache ({asked!r:.60}) that SGLang does not take by itself: the model's dtype is assumed"
