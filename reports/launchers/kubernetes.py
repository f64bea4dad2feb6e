"""A ConfigMap that holds the configuration file with its comments, which stay in the cluster; those of a manifest do not.

Words to add to `args` are only said: no patch appends to a list but by its place, and LeaderWorkerSet, KServe, OME and Dynamo each keep
theirs elsewhere. Helm reads `{{` in comments too, so none is left in one.
"""

from __future__ import annotations

import re
from textwrap import indent

from reports.launchers import sglang_yaml
from reports.launchers.entries import Entry
from reports.launchers.launcher import Launcher, flags_of
from reports.launchers.mark import scalar
from reports.page import clean
from store.pins.pin import Pin

NAME, FOLDER, FILE = "attnpin-sglang", "/etc/attnpin", "sglang.yaml"
OPENED = re.compile(r"\{(?=\{)")


def render(pin: Pin, launcher: Launcher) -> str:
    text = "".join(map(_without_templates, sglang_yaml.render(pin, launcher).splitlines(keepends=True)))
    return "\n".join(
        [
            "# In every container that serves (of a LeaderWorkerSet: the leader's and the workers'):",
            f"#   args:         [..., --config, {FOLDER}/{FILE}]  # two words: SGLang passes over --config=FILE without saying so",
            f"#   volumeMounts: [{{name: attnpin, mountPath: {FOLDER}}}]",
            f"# and in its pod: volumes: [{{name: attnpin, configMap: {{name: {NAME}}}}}]",
            "apiVersion: v1",
            "kind: ConfigMap",
            "metadata:",
            f"  name: {NAME}",
            "  annotations:",
            f"    attnpin-run: {_text(clean(pin.run))}",
            "data:",
            f"  {FILE}: |",
            indent(text, "    "),
        ]
    )


def _text(value: str) -> str:
    """Quoted where YAML reads a number: an annotation is text."""
    return f'"{value}"' if value.isdecimal() else scalar(value)


def _without_templates(line: str) -> str:
    return OPENED.sub("{ ", line) if line.startswith("#") else line


def entries(pin: Pin, launcher: Launcher) -> tuple[Entry, ...]:
    """What is merged into a file that is there."""
    flags = flags_of(pin, launcher)
    return tuple(Entry((flag.name,), flag.switch or flag.value, flag.because and OPENED.sub("{ ", flag.because)) for flag in flags)
