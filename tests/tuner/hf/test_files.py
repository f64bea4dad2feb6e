"""A configuration comes from anywhere: whatever lies at the path is read, or refused in one sentence with exit code 2."""

from __future__ import annotations

import hashlib
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.tuner.hf.configuring import LLAMA, written
from tuner.errors import UsageError
from tuner.hf import files
from tuner.hf.files import MAX_BYTES, read_files


def refusal(path: Path | str) -> str:
    with pytest.raises(UsageError) as refused:
        read_files(str(path))
    text = str(refused.value)
    assert "\n" not in text and len(text) < 400
    return text


def holding(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "config.json").write_bytes(content)
    return tmp_path


def test_a_folder_and_its_file_are_the_same_model(tmp_path: Path) -> None:
    folder = written(tmp_path / "my-model")
    by_folder, by_file = read_files(str(folder)), read_files(str(folder / "config.json"))
    assert by_folder == by_file
    assert by_folder.name == "my-model" and by_folder.config == LLAMA
    assert by_folder.digest == hashlib.sha256((folder / "config.json").read_bytes()).hexdigest()


def test_the_name_is_the_folder_s_or_the_file_s_and_safe_for_paths(tmp_path: Path) -> None:
    written(tmp_path / "a b;c$(d)")
    (tmp_path / "Other-1.5.json").write_text(json.dumps(LLAMA))
    assert read_files(str(tmp_path / "a b;c$(d)")).name == "a_b_c_d"
    assert read_files(str(tmp_path / "Other-1.5.json")).name == "Other-1.5"


def test_a_snapshot_in_the_hub_s_cache_has_the_name_of_its_model(tmp_path: Path) -> None:
    folder = written(tmp_path / "models--Qwen--Qwen3-8B" / "snapshots" / "0a1b2c")
    assert read_files(str(folder)).name == "Qwen3-8B"


def test_a_relative_path_and_a_home_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_files(".").name == read_files("config.json").name == read_files("~/here").name == "here"


def test_what_modelopt_left_beside_the_configuration_is_read_too(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert read_files(str(folder)).quantization is None
    (folder / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    assert read_files(str(folder)).quantization == {"quantization": {"quant_algo": "FP8"}}
    (folder / "hf_quant_config.json").write_text("[]")
    assert "hf_quant_config.json holds a list" in refusal(folder)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert read_files(str(holding(tmp_path, b"\xef\xbb\xbf{}"))).config == {}


def test_a_path_that_is_not_there_is_named_and_nothing_is_downloaded(tmp_path: Path) -> None:
    text = refusal("Qwen/Qwen3-8B")
    assert "model.path=Qwen/Qwen3-8B does not exist" in text and "nothing is downloaded" in text


def test_a_folder_without_a_configuration_says_what_is_missing(tmp_path: Path) -> None:
    assert f"model.path={tmp_path} has no config.json" in refusal(tmp_path)
    assert "has no config.json" in refusal(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b'{"architectures": ["LlamaForCausalLM"], "hidden_si', "is not JSON"),
        (b"{'hidden_size': 4096}", "is not JSON"),
        (b"[" * 200_000, "is nested deeper than any model configuration"),
        (b'{"a":' * 200_000, "is nested deeper than any model configuration"),
        (b"\x80\x02ctorch\n", "is not text in UTF-8"),
        (b"\xff\xfe{\x00}\x00", "is not text in UTF-8"),
        (b"\x00" * 64, "is not JSON"),
        (b"[]", "holds a list where a model configuration holds an object"),
        (b'"config"', "holds a text"),
        (b"17", "holds a number"),
        (b"NaN", "holds a number"),
        (b"null", "holds null"),
        (b"true", "holds a truth value"),
        (b'{"hidden_size": 1' + b"0" * 5000 + b"}", "has a number of 5001 digits"),
    ],
)
def test_content_that_is_no_configuration_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    text = refusal(holding(tmp_path, content))
    assert said in text and str(tmp_path / "config.json") in text and "config.json of a checkpoint" in text


def test_a_huge_file_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(200 << 20)  # sparse: it takes no room on the disk
    tracemalloc.start()
    text = refusal(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "is larger than 4 MiB, which no model configuration is" in text
    assert peak < 4 * MAX_BYTES


def test_the_largest_file_is_still_read(tmp_path: Path) -> None:
    content = json.dumps(LLAMA).encode()
    assert read_files(str(holding(tmp_path, content.ljust(MAX_BYTES)))).config == LLAMA
    assert "is larger than" in refusal(holding(tmp_path, content.ljust(MAX_BYTES + 1)))


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "config.json").symlink_to(tmp_path / "config.json")
    assert "cannot be opened (Too many levels of symbolic links)" in refusal(tmp_path / "one")
    assert "cannot be opened (Too many levels of symbolic links)" in refusal(tmp_path)


def test_a_link_to_a_configuration_is_followed(tmp_path: Path) -> None:
    folder = written(tmp_path / "blobs")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").symlink_to(folder / "config.json")
    assert read_files(str(tmp_path / "model")).name == "model"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    assert "is not a regular file" in refusal(tmp_path)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    assert "cannot be opened (" in refusal("a\0b")
    assert "cannot be opened (File name too long)" in refusal("x" * 300)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path)

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "open", denied)  # root reads everything, so no mode of the file would do
    assert "config.json cannot be read (Permission denied); make it readable" in refusal(folder)
