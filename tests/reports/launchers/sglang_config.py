"""How SGLang reads `--config FILE`, for what a pin writes: PyYAML, a flat mapping, every scalar turned into text.

Source: sglang/srt/server_args_config_parser.py, ConfigArgumentMerger._convert_config_to_args, 0.5.16.
"""

from __future__ import annotations

import yaml


def arguments(text: str) -> list[str]:
    content = yaml.safe_load(text) or {}
    assert isinstance(content, dict), "SGLang: Config file must contain a dictionary at root level"
    return [word for key, value in content.items() for word in _words(key, value)]


def _words(key: str, value: object) -> list[str]:
    assert "_" not in key, f"SGLang's argparse knows no --{key}"
    assert isinstance(value, (str, int)) and not isinstance(value, bool), f"{key}: SGLang would not pass {value!r} on as it was written"
    return [f"--{key}", str(value)]
