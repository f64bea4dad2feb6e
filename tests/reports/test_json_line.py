from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import reports
from reports.json_line import json_line

MODULES = [path for path in Path(reports.__path__[0]).rglob("*.py") if "def render_json" in path.read_text()]


def test_a_record_is_one_line_whatever_its_texts_hold() -> None:
    said = {"detail": "two\nlines \u2028 and more", "none": None, "pairs": [["a", 1.5]]}
    line = json_line(said)
    assert line.endswith("\n") and len(line.splitlines()) == 1 and json.loads(line) == said


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_report_says_its_data_so(path: Path) -> None:
    (render,) = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name == "render_json")
    (returned,) = (node.value for node in ast.walk(render) if isinstance(node, ast.Return))
    assert isinstance(returned, ast.Call) and isinstance(returned.func, ast.Name) and returned.func.id == json_line.__name__
