"""vLLM's own choice: the backend of each layer kind, the KV block size that follows, and what it says of every backend by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backends.vllm.asked.standing import standing_in

Question = dict[str, Any]


class UnknownLayout(Exception):
    """This vLLM selects somewhere else; the text says what is missing."""


def selected(question: Question) -> dict[str, Any]:
    """Raises what vLLM raises where no backend, or not the one that was named, is valid; `UnknownLayout`."""
    from vllm.config.vllm import set_current_vllm_config

    config = standing_in(question["config"])
    with set_current_vllm_config(config):
        layers = {name: _selector_config(fields) for name, fields in question["layers"].items()}
        rejected = {name: _rejections(name, layers.values()) for name in question["judged"]}
        if question.get("judge_alone"):
            return {"rejected": rejected}
        wish = _member(question["backend"]) if question["backend"] else None
        found = {name: _chosen(wish, asked, question["heads"][name]) for name, asked in layers.items()}
        block = _block_size(found.values(), config)
    default = found[question["default"]]
    return {
        **{"prefill": default, "decode": default, "page_size": block, "kv_dtype": config.cache_config.cache_dtype},
        **{"layers": found, "rejected": rejected},
    }


def _selector_config(fields: dict[str, Any]) -> Any:
    import torch
    from vllm.v1.attention.selector import AttentionSelectorConfig

    unknown = set(fields) - set(AttentionSelectorConfig._fields)
    if unknown - UNSET.keys() or any(fields[name] != UNSET[name] for name in unknown):
        raise UnknownLayout(f"its AttentionSelectorConfig lacks {', '.join(sorted(unknown))}")
    known = {name: value for name, value in fields.items() if name not in unknown}
    return AttentionSelectorConfig(**{**known, "dtype": getattr(torch, fields["dtype"])})


# Fields that some releases lack, and the value that asks nothing of them.
UNSET = {"use_pcp": False, "use_dcp": False, "use_kv_connector": False, "use_batch_invariant": False}


def _member(name: str) -> Any:
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    return AttentionBackendEnum[name]


def _chosen(wish: Any, asked: Any, heads: int) -> str:
    from vllm.platforms import current_platform
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    path = current_platform.get_attn_backend_cls(wish, attn_selector_config=asked, num_heads=heads)
    for member in AttentionBackendEnum:
        if _path(member) == path:
            return str(member.name)
    raise UnknownLayout(f"it names {path}, which its list of backends does not hold")


def _path(member: Any) -> str | None:
    try:
        return str(member.get_path())
    except ValueError:  # a placeholder
        return None


def _block_size(names: Iterable[str], config: Any) -> int:
    from vllm.config.cache import CacheConfig
    from vllm.platforms import current_platform

    if config.cache_config.user_specified_block_size:
        return int(config.cache_config.block_size)
    classes = [_member(name).get_class() for name in dict.fromkeys(names)]
    if not hasattr(current_platform, "_preferred_block_size_for_backends"):
        raise UnknownLayout("its platform has no _preferred_block_size_for_backends")
    return int(current_platform._preferred_block_size_for_backends(classes, CacheConfig.DEFAULT_BLOCK_SIZE, config))


def _rejections(name: str, layers: Iterable[Any]) -> list[str]:
    """Why the backend may not serve some of ``layers``, each reason once."""
    from vllm.platforms import current_platform

    capability = current_platform.get_device_capability()
    try:
        backend = _member(name).get_class()
        said = [backend.validate_configuration(device_capability=capability, **asked._asdict()) for asked in layers]
    except (ImportError, OSError) as error:
        return [f"{type(error).__name__}: {error}"]
    except ValueError as error:  # a release without this name
        return [str(error)]
    return list(dict.fromkeys(reason for reasons in said for reason in reasons))
