"""From the path of a checkpoint to the settings of its model, and what must be said about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backends.model import LayerKind
from tuner.errors import UsageError
from tuner.hf.architectures import KNOWN
from tuner.hf.context import context_length, dtype
from tuner.hf.fields import Config, needed
from tuner.hf.files import read_files
from tuner.hf.heads import named, plain_kinds
from tuner.hf.latent import is_latent, latent_kind
from tuner.hf.layer import ATTENDING, Layer
from tuner.hf.parameters import Parameters, parameters_of
from tuner.hf.pattern import layers_of
from tuner.hf.quantization import Quantization, average_bits, quantization_of
from tuner.hf.scores import biased, shares_kv, soft_cap
from tuner.hf.shape import Shape, shape_of
from tuner.hf.unknown import notes_of
from tuner.hf.vision import vision_notes

BILLION = 1e9


@dataclass(frozen=True)
class Reading:
    """``values`` under the names of the schema's model node; ``notes`` are sentences for whoever plans with them."""

    values: dict[str, Any]
    notes: tuple[str, ...]


def read_checkpoint(path: str) -> Reading:
    """The model whose config.json lies at ``path``. Raises `UsageError` in one sentence for what cannot be read or understood."""
    files = read_files(path)
    shape = shape_of(files.config)
    layers = layers_of(shape.config)
    kinds = kinds_of(shape, layers)
    parameters = parameters_of(shape.config, shape.architecture, layers, kinds)
    quantization = quantization_of(shape.config, files.quantization)
    values = {
        "name": files.name,
        "source": f"config.json, sha256 {files.digest[:12]}",
        "config_sha256": files.both,
        **_of_attention(shape, layers, kinds),
        **_of_weights(shape.config, parameters, quantization),
    }
    notes = (*_notes(shape, layers, parameters, quantization), *vision_notes(files.config, shape.architecture))
    return Reading(values, notes)


def kinds_of(shape: Shape, layers: Sequence[Layer]) -> tuple[LayerKind, ...]:
    attending = sum(layer in ATTENDING for layer in layers)
    if not attending:
        raise UsageError("config.json describes no layer with attention, so there is no attention backend to choose; serve it as it is")
    if is_latent(shape.config, shape.architecture):
        return named(Counter({latent_kind(shape.config, 1): attending}))
    return plain_kinds(shape.config, shape.architecture, layers, context_length(shape.config))


def _of_attention(shape: Shape, layers: Sequence[Layer], kinds: Sequence[LayerKind]) -> dict[str, Any]:
    return {
        "architecture": shape.architecture,
        "attention": "mla" if is_latent(shape.config, shape.architecture) else "mha",
        "layers": [_configured(kind) for kind in kinds],
        "other_layers": sum(layer in (Layer.MIXER, Layer.BOTH) for layer in layers),
        "logit_softcap": soft_cap(shape.config, shape.architecture),
        "context_length": context_length(shape.config),
    }


def _of_weights(config: Config, parameters: Parameters, quantization: Quantization) -> dict[str, Any]:
    kept = parameters.embedding + (parameters.attention if quantization.keeps_attention else 0.0)
    return {
        "hidden_size": needed(config, "hidden_size"),
        "vocab_size": needed(config, "vocab_size"),
        "params_total": parameters.total,
        "params_active": parameters.active,
        "attention_params": parameters.attention,
        "dtype": dtype(config),
        "declared_kv_dtype": quantization.kv_dtype,
        "weight_bits": average_bits(quantization, dtype(config), parameters.total, kept),
    }


def _notes(shape: Shape, layers: Sequence[Layer], parameters: Parameters, quantization: Quantization) -> Iterator[str]:
    if shape.architecture not in KNOWN:
        family = "latent attention (MLA)" if is_latent(shape.config, shape.architecture) else "plain grouped-query attention"
        yield f"a guess: {shape.architecture} is no architecture attnpin knows, so config.json was read as {family}"
    if shape.filled:
        yield f"config.json leaves out {', '.join(shape.filled)}: the defaults of its class in transformers 5.19.0 were taken"
    yield from _of_layers(shape.config, layers)
    total, active = parameters.total / BILLION, parameters.active / BILLION
    yield f"parameters were estimated from config.json: {total:.3g} billion, {active:.3g} billion a token; model.params_total sets another"
    yield from quantization.notes
    yield from notes_of(shape.config)


def _of_layers(config: Config, layers: Sequence[Layer]) -> Iterator[str]:
    mixers = sum(layer in (Layer.MIXER, Layer.BOTH) for layer in layers)
    if mixers:
        yield (
            f"{mixers} of {len(layers)} layers have Mamba, linear attention or a convolution: their time and their states' memory are "
            f"left out, the size of their weights is a guess"
        )
    if Layer.CHUNK in layers:
        yield "chunked attention is planned as a sliding window of the chunk's size, the most that a query sees"
    if Layer.SPARSE in layers or "index_topk" in config:
        yield "an indexer chooses the keys of a query: the plan counts all of them, as a backend without it would read"
    if biased(config):
        yield "ALiBi adds a bias to every score: what is timed has none, and backends that cannot add it are not told apart here"
    if shared := shares_kv(config):
        yield f"{shared} layers read the keys and values of earlier ones: the KV pool holds more tokens than is said here"


def _configured(kind: LayerKind) -> dict[str, Any]:
    """As the `model` group has it: what a call sees of it besides follows from its phase (backends/latent.py)."""
    return {key: value for key, value in asdict(kind).items() if key != "projected_from"}
