from __future__ import annotations

from pathlib import Path

import pytest

from tuner.errors import UsageError
from tuner.sweep.wishes import wishes


def test_every_combination_of_values_is_a_scenario() -> None:
    found = wishes(["model=qwen3_8b,tiny", "traffic=chat,rag", "engine.tensor_parallel=4"])
    assert [wish[:2] for wish in found] == [
        *[("model=qwen3_8b", "traffic=chat"), ("model=qwen3_8b", "traffic=rag")],
        *[("model=tiny", "traffic=chat"), ("model=tiny", "traffic=rag")],
    ]
    assert {wish[2] for wish in found} == {"engine.tensor_parallel=4"}


def test_names_may_be_chosen_by_a_pattern_and_numbers_by_a_range() -> None:
    assert {wish[0] for wish in wishes(["model=glob(qwen3_*)"])} >= {"model=qwen3_8b", "model=qwen3_32b"}
    assert wishes(["engine.tensor_parallel=range(1,4)"]) == tuple((f"engine.tensor_parallel={n}",) for n in (1, 2, 3))


def test_a_list_is_one_value() -> None:
    assert wishes(["measure.backends=[fa3,triton]"]) == (("measure.backends=[fa3,triton]",),)


def test_lines_of_a_file_stand_behind_what_all_share_and_may_be_combinations_too(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("- model=qwen3_8b traffic=chat,rag\n- [model=tiny, traffic=rag]\n- model=tiny traffic=rag\n")
    assert wishes(["gpu=h200", f"scenarios={file}"]) == (
        ("gpu=h200", "model=qwen3_8b", "traffic=chat"),
        ("gpu=h200", "model=qwen3_8b", "traffic=rag"),
        ("gpu=h200", "model=tiny", "traffic=rag"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no list of scenarios"),
        ("model: tiny", "holds no list of scenarios"),
        ("- model=tiny\n- [", "is not YAML (line 2: expected the node content"),
        ("- model=tiny\n- a=[{b: c}]", "entry 2 is a mapping, since it has a ': ', put the line in double quotes"),
        ("- a=[{b: c, d: e}]", "is not YAML (line 1: mapping values are not allowed here, put the line in double quotes)"),
        ("- \0", "is not YAML (unacceptable character"),
        ("- 3", "entry 1 (3) is no line of overrides"),
        ("- model=tiny\n- {model: tiny}", "entry 2 is a mapping"),
        ("- model='tiny", 'entry 1 ("model=\'tiny") is no line of overrides (No closing quotation)'),
    ],
)
def test_a_file_that_is_no_list_of_scenarios_is_refused_with_an_example(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "fleet.yaml").write_text(text)
    with pytest.raises(UsageError) as caught:
        wishes([f"scenarios={tmp_path}/fleet.yaml"])
    assert said in str(caught.value) and str(caught.value).endswith("such as - model=qwen3_8b traffic=chat")


def test_a_file_that_names_a_file_again_would_never_end(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(f"- model=tiny\n- scenarios={tmp_path}/fleet.yaml\n")
    with pytest.raises(UsageError, match="entry 2 names a file of scenarios again; write its lines into this one"):
        wishes([f"scenarios={tmp_path}/fleet.yaml"])


def test_no_file_is_none_and_an_empty_name_is_refused() -> None:
    assert wishes(["scenarios=null", "traffic=chat,rag"]) == (("traffic=chat",), ("traffic=rag",))
    with pytest.raises(UsageError, match="scenarios= names no file"):
        wishes(["scenarios=", "traffic=chat"])


def test_an_override_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(UsageError, match=r"is not an override; did you mean model=qwen3_8b\?"):
        wishes(["qwen3_8b", "traffic=chat,rag"])
