"""What Hydra composes of a command line, once for all that choose the same of its groups: a tenth of a second, for which the suite asks
a thousand times. Values are set in a copy, by Hydra's own function that does so last of all."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from tuner import settings
from tuner.composing.shipped import CHOOSING

Composed = tuple[Any, Any]
Composer = Callable[[Sequence[str], str | None], Composed]
BY_HYDRA: Composer = settings._composed


def replace(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(settings, "_composed", remembering(BY_HYDRA))


def remembering(compose: Composer) -> Composer:
    """``compose`` (`tuner.settings._composed`), asked once for the same choices and the same files of a --config-dir. What it refuses it
    refuses each time."""
    known: dict[Any, Composed] = {}

    def composed(overrides: Sequence[str], config_dir: str | None) -> Composed:
        choices = tuple(word for word in overrides if not _sets_a_value(word))
        try:
            asked = choices, _files(config_dir)
            if asked not in known:
                known[asked] = compose(choices, config_dir)
            cfg, backends = known[asked]
            return _set(copy.deepcopy(cfg), [word for word in overrides if _sets_a_value(word)]), backends
        except (HydraException, OmegaConfBaseException, OSError, AssertionError):
            return compose(overrides, config_dir)  # which says what is wrong

    return composed


def _sets_a_value(word: str) -> bool:
    return "." in word.partition("=")[0] and word[0].isalpha() and not CHOOSING.match(word)


def _files(config_dir: str | None) -> tuple[tuple[str, bytes], ...] | None:
    if config_dir is None:
        return None
    folder = Path(config_dir).resolve(strict=True)
    return tuple((str(file.relative_to(folder)), file.read_bytes()) for file in sorted(folder.rglob("*.yaml")))


def _set(cfg: Any, words: list[str]) -> Any:
    parsed = OverridesParser.create().parse_overrides(words)
    if any(override.is_sweep_override() for override in parsed):
        raise HydraException("several values in one word")
    OmegaConf.set_struct(cfg, True)
    ConfigLoaderImpl._apply_overrides_to_config(parsed, cfg)
    return cfg
