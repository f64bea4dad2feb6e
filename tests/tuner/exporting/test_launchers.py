from __future__ import annotations

from pathlib import Path

import pytest

from reports.launchers import command_line
from tuner.errors import UsageError
from tuner.exporting.launchers import launcher_for, load_launchers


def written(folder: Path, name: str, text: str) -> str:
    (folder / "launcher").mkdir(exist_ok=True)
    (folder / "launcher" / f"{name}.yaml").write_text(text)
    return str(folder)


def test_the_package_brings_launchers_of_sglang_two_of_vllm_and_constraints() -> None:
    found = load_launchers()
    vllm = {"vllm", "vllm-yaml"}
    assert sorted(set(found) - vllm) == [
        *("auto-benchmark", "compose", "constraints", "env", "json", "kubernetes", "sglang", "sglang-yaml", "slurm", "systemd"),
    ]
    assert {name: launcher.engine for name, launcher in found.items()} == dict.fromkeys(found, "sglang") | dict.fromkeys(vllm, "vllm")
    assert {found[name].versions for name in set(found) - {"auto-benchmark", "constraints"} - vllm} == {">=0.5.16,<0.6"}
    assert found["json"].comment is None and found["env"].comment == "#"


def test_every_launcher_says_in_which_releases_its_words_were_read() -> None:
    found = load_launchers()
    assert {name for name, launcher in found.items() if launcher.read is None} == {"constraints"}
    assert {name for name, launcher in found.items() if launcher.carrier is None} == {"json", "sglang", "sglang-yaml", "vllm", "vllm-yaml"}


def test_a_folder_adds_a_launcher_and_leans_on_one_of_ours(tmp_path: Path) -> None:
    found = load_launchers(written(tmp_path, "mine", "like: sglang\nflags: {page-size: block}\n"))
    assert found["mine"].render is command_line.render
    assert found["mine"].flags == {"page-size": "block"}
    assert set(load_launchers()) < set(found)


def test_a_folder_without_launchers_changes_nothing(tmp_path: Path) -> None:
    assert load_launchers(str(tmp_path)) == load_launchers()


def test_an_unknown_launcher_gets_the_nearest_names() -> None:
    with pytest.raises(UsageError, match="no launcher is called 'sglang-yml'; did you mean sglang-yaml"):
        launcher_for("sglang-yml", load_launchers())
    with pytest.raises(UsageError, match="no launcher is called 'helm'; choose one of auto-benchmark, compose, constraints, env"):
        launcher_for("helm", load_launchers())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("like: sgland\n", r"launcher/mine.yaml is like 'sgland', which is no launcher of its own; did you mean sglang\?"),
        ("like: env\n", "is like 'env', which is no launcher of its own"),
        ("like: sglang\nflgas: {}\n", r"launcher/mine.yaml has no key 'flgas'; did you mean flags\?"),
        ("like: sglang\nrender: reports.nowhere:render\n", "render 'reports.nowhere:render' cannot be loaded .*; write module:function"),
        ("like: sglang\nrender: render\n", "render 'render' cannot be loaded"),
        ("engine: sglang\n", "launcher/mine.yaml lacks versions"),
        ("- a\n", "launcher/mine.yaml must hold keys and values"),
        ("a: [\n", "launcher/mine.yaml is not YAML"),
    ],
)
def test_a_bad_entry_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_launchers(written(tmp_path, "mine", text))
    assert "\n" not in str(caught.value)
