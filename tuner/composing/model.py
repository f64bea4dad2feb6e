"""The model of a checkpoint: what `model=hf` leaves open is read from the config.json that ``model.path`` names."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, OmegaConf

from tuner.errors import UsageError

# Settings that a model may do without: null or 0 leaves them open too.
OPTIONAL = ("logit_softcap", "declared_kv_dtype", "weight_bits", "attention_params", "other_layers", "config_sha256")

Notes = tuple[str, ...]


def read_model(cfg: DictConfig) -> Notes:
    """Fills in the open settings of the model in ``cfg``; the sentences say what was guessed or not understood. What the user
    set stays. Raises `UsageError`, also where a path is given to a model that has its geometry."""
    missing = {key for key in cfg.model if OmegaConf.is_missing(cfg.model, key)}
    if cfg.model.path is None:
        if {"architecture", "layers"} <= missing:
            raise UsageError("model=hf reads a Hugging Face config.json; give model.path=FILE or the folder of the checkpoint")
        return ()
    if not missing:
        raise UsageError(f"model.path is read with model=hf alone, and model {cfg.model.name} has its geometry; drop one of the two")
    from tuner.hf.checkpoint import read_checkpoint  # other models need none of it

    read = read_checkpoint(cfg.model.path)
    _refuse_contradiction(cfg.model, missing, read.values)
    open_ = missing | {key for key in OPTIONAL if not cfg.model[key]}
    filled = {key: value for key, value in read.values.items() if key in open_}
    cfg.model = OmegaConf.merge(cfg.model, filled)
    return read.notes


def _refuse_contradiction(model: DictConfig, missing: set[str], values: dict[str, Any]) -> None:
    """The kind of attention decides how its heads are written down, so one cannot be changed without the other."""
    if "attention" in missing or "layers" not in missing or model.attention.name == values["attention"]:
        return
    raise UsageError(
        f"model.attention={model.attention.name} contradicts config.json, which describes {values['attention']} attention; "
        f"leave it out, or give model.layers too"
    )
