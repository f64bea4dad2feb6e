"""An override file for Docker Compose: the configuration file as text, mounted into the service.

A `command` would replace the service's own, model and port included, since Compose joins no lists of words; a mounted file leaves it
alone. Compose replaces `$` in every text, so each is doubled. Source: compose-spec, 05-services.md and 08-configs.md (`content`).
"""

from __future__ import annotations

from textwrap import indent

from reports.launchers import sglang_yaml
from reports.launchers.entries import Entry
from reports.launchers.launcher import Launcher, flags_of, variables_of
from reports.launchers.mark import scalar
from store.pins.pin import Pin

SERVICE, NAME, TARGET = "sglang", "attnpin", "/etc/attnpin/sglang.yaml"


def render(pin: Pin, launcher: Launcher) -> str:
    text = _doubled(sglang_yaml.render(pin, launcher))
    return "\n".join(
        [
            f"# The command of service {SERVICE} has to say: --config {TARGET}",
            "# (two words: SGLang passes over --config=FILE without saying so)",
            "configs:",
            f"  {NAME}:",
            "    content: |",
            f"{indent(text, '      ')}services:",
            f"  {SERVICE}:",
            "    configs:",
            f"      - source: {NAME}",
            f"        target: {TARGET}",
            *_environment(pin),
            "",
        ]
    )


def _environment(pin: Pin) -> list[str]:
    lines = [f"      {each.name}: {scalar(_doubled(each.value))}" for each in variables_of(pin)]
    return ["    environment:", *lines] if lines else []


def entries(pin: Pin, launcher: Launcher) -> tuple[Entry, ...]:
    """What is merged into a file that is there."""
    return tuple(
        Entry((flag.name,), flag.switch or _doubled(flag.value), flag.because and _doubled(flag.because))
        for flag in flags_of(pin, launcher)
    )


def _doubled(text: str) -> str:
    return text.replace("$", "$$")
