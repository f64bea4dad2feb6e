"""The words that an engine is given in the end, by each form in which SGLang's flags are carried."""

from __future__ import annotations

import json
import shlex

from store.pins.pin import Pin
from tests.reports.launchers.env_readers import VARIABLE, docker
from tests.reports.launchers.sglang_config import arguments
from tests.reports.launchers.systemd_readers import drop_in, words_of
from tests.reports.launchers.yaml_carriers import compose_config, config_map, recipe_arguments
from tuner.exporting.launchers import load_launchers

LAUNCHERS = load_launchers()


def carried(pin: Pin) -> dict[str, list[str]]:
    text = {name: launcher.render(pin, launcher) for name, launcher in LAUNCHERS.items() if launcher.engine == "sglang"}
    role = dict(pin.valid_for.settings).get("engine.role", "agg")
    flags = json.loads(text["json"])["flags"]
    return {
        "sglang": shlex.split(text["sglang"]),
        "sglang-yaml": arguments(text["sglang-yaml"]),
        "env": _two_each(docker(text["env"])[VARIABLE].replace(",", " ").split()),
        "systemd": _two_each(words_of(drop_in(text["systemd"])[VARIABLE])),
        "compose": arguments(compose_config(text["compose"])),
        "kubernetes": arguments(config_map(text["kubernetes"])),
        "slurm": recipe_arguments(text["slurm"], role),
        "json": [word for name, value in flags.items() for word in (f"--{name}", value)],
    }


def _two_each(words: list[str]) -> list[str]:
    return [part for word in words for part in word.split("=", 1)]
