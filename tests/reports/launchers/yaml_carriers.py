"""What Compose, Kubernetes and srt-slurm make of the YAML they are given."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).with_name("schemas")
INTERPOLATED = re.compile(r"\$(?:(?P<dollar>\$)|\{[^}]*\}|[A-Za-z_][A-Za-z0-9_]*|(?P<bad>))")


def refusals(document: Any, schema: str) -> list[str]:
    validator = Draft202012Validator(json.loads((SCHEMAS / schema).read_text()))
    return [error.message for error in validator.iter_errors(document)]


def interpolated(text: str) -> str:
    """Compose: `$$` is a `$`, `$NAME` and `${...}` are variables (none is set), and any other `$` is an error.

    Source: compose-spec, 12-interpolation.md.
    """

    def value(match: re.Match[str]) -> str:
        assert match["bad"] is None, f"Compose: invalid interpolation format in {text!r}"
        return match["dollar"] or ""

    return INTERPOLATED.sub(value, text)


def compose_config(text: str) -> str:
    """The file that the service finds where --config looks for it."""
    project = yaml.safe_load(text)
    assert refusals(project, "compose-spec.json") == []
    ((source, target),) = [(each["source"], each["target"]) for each in project["services"]["sglang"]["configs"]]
    assert target == "/etc/attnpin/sglang.yaml"
    return interpolated(project["configs"][source]["content"])


def config_map(text: str) -> str:
    """The file that a pod finds in the folder it is mounted at."""
    (found,) = yaml.safe_load_all(text)
    assert refusals(found, "configmap-v1.json") == []
    ((name, content),) = found["data"].items()
    assert name == "sglang.yaml" and isinstance(content, str)
    return content


def recipe_arguments(text: str, role: str) -> list[str]:
    """srt-slurm: keys are options, true is a bare one, false and null are none, lists follow their option.

    Source: NVIDIA/srt-slurm, src/srtctl/backends/sglang.py, _config_to_cli_args.
    """
    recipe = yaml.safe_load(text)
    assert list(recipe) == ["roles"] and list(recipe["roles"]) == [role] and list(recipe["roles"][role]) == ["args"]
    args = recipe["roles"][role]["args"]
    assert all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in args.values())
    return [word for key, value in args.items() for word in (f"--{key.replace('_', '-')}", str(value))]


def vllm_arguments(text: str) -> list[str]:
    """`vllm serve --config`: a mapping is one option and its JSON; a file without keys ends vLLM.

    Source: vllm/utils/argparse_utils.py, load_config_file, 0.33.0.
    """
    content = yaml.safe_load(text)
    assert isinstance(content, dict), "vLLM: 'NoneType' object has no attribute 'items'"
    return [word for key, value in content.items() for word in (f"--{key}", json.dumps(value) if isinstance(value, dict) else str(value))]
