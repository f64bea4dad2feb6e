from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from backends.gpu import Gpu
from backends.model import Attention
from store.scenario import Objective
from store.traffic import Lengths
from tests.tuner.composed import composed, refusal
from tests.tuner.hf.configuring import written
from tuner.composing import names
from tuner.errors import UsageError
from tuner.settings import compose, gpu_sheets


def every_option() -> list[list[str]]:
    """Each option of each group once, several groups at a time, since composing takes a tenth of a second."""
    groups = {group: options for group, options in names.groups().items() if group not in ("backend", "launcher")}
    rows = range(max(map(len, groups.values())))
    return [[f"{group}={options[row]}" for group, options in groups.items() if row < len(options)] for row in rows]


def test_without_overrides_the_tiny_model_chats_on_what_this_machine_has():
    settings = compose([])
    scenario = settings.scenario
    assert (scenario.model.name, scenario.traffic.name, scenario.engine.name, scenario.measure.profile) == (
        "tiny",
        "chat",
        "sglang",
        "quick",
    )
    assert settings.gpu_is_auto and scenario.gpu.kind in ("cpu", "cuda")
    assert settings.pin_path == Path("pins/tiny-chat/pin.yaml")
    assert (settings.fresh, settings.without_default) == (False, False)


def test_the_tiny_model_has_the_width_that_its_device_takes():
    widths = {gpu: composed(f"gpu={gpu}").scenario.model.dtype for gpu in ("cpu_x86", "h200", "simulated")}
    assert widths == {"cpu_x86": "float32", "h200": "float16", "simulated": "float16"}
    assert composed("model.dtype=bfloat16", "gpu=cpu_x86").scenario.model.dtype == "bfloat16"


def test_pins_of_a_gpu_that_is_none_lie_apart_and_those_of_recorded_times_beside_them():
    folders = {gpu: composed("model=qwen3_8b", f"gpu={gpu}").pin_path for gpu in ("h200", "simulated", "replay")}
    assert folders == {
        "h200": Path("pins/qwen3_8b-chat/pin.yaml"),
        "simulated": Path("pins-simulated/qwen3_8b-chat/pin.yaml"),
        "replay": Path("pins-replay/qwen3_8b-chat/pin.yaml"),
    }
    recorded = composed("model=qwen3_8b", "gpu=simulated", "gpu.simulated.recording=qwen3_8b-h200")
    assert recorded.pin_path == folders["replay"]
    assert composed("gpu=simulated", "pin.path=x.yaml").pin_path == Path("x.yaml")


@pytest.mark.parametrize("options", every_option(), ids=" ".join)
def test_every_option_of_every_group_composes(options, tmp_path):
    asked = [f"model.path={written(tmp_path)}"] if "model=hf" in options else []
    if "traffic=trace" in options:
        (tmp_path / "log.csv").write_text("prompt_tokens,output_tokens\n1000,200\n")
        asked.append(f"traffic.path={tmp_path / 'log.csv'}")
    assert compose([*options, *asked])


def test_every_backend_of_the_group_is_an_entry_once():
    entries = [entry.name for entry in compose([]).entries]
    ours = [name for name in names.groups()["backend"] if "/" not in name]  # another engine's lie in a folder of its own
    assert sorted(entries) == ours and len(entries) == 25


def test_an_engine_brings_the_backends_of_its_folder():
    entries = [f"vllm/{entry.name.lower()}" for entry in compose(["engine=vllm"]).entries]
    assert sorted(entries) == [name for name in names.groups()["backend"] if name.startswith("vllm/")]


def test_geometry_arrives_as_the_model_file_gives_it():
    model = composed("model=deepseek_v3").scenario.model
    kind = model.layers[0]
    assert model.attention is Attention.MLA
    assert (model.attention_layers, kind.query_heads, kind.kv_heads, kind.head_dim, kind.value_head_dim) == (61, 128, 1, 576, 512)


def test_parameter_counts_follow_from_the_geometry_of_the_file():
    model = composed("model=qwen3_8b").scenario.model
    kind, hidden, mlp = model.layers[0], model.hidden_size, 12288
    layer = hidden * kind.head_dim * 2 * (kind.query_heads + kind.kv_heads) + 3 * hidden * mlp
    assert kind.layers * layer + 2 * hidden * model.vocab_size == pytest.approx(model.params_total, rel=1e-3)


def test_a_profile_changes_what_it_names_and_keeps_the_rest():
    quick, gate, release = (composed(f"measure={name}").scenario.measure for name in ("quick", "gate", "release"))
    assert (quick.processes, gate.processes, release.processes) == (4, 8, 14)
    assert gate == dataclasses.replace(quick, profile="gate", processes=8)


def test_values_and_words_arrive_typed():
    settings = composed(
        *["decide.objective=tpot", "engine.command=[ssh,host,python3]", "engine.speculative.topk=1", "traffic.prompt.p95_tokens=7000"]
    )
    assert settings.scenario.decide.objective is Objective.TPOT
    assert settings.scenario.engine.command == ("ssh", "host", "python3")
    assert settings.scenario.engine.speculation.topk == 1
    assert settings.scenario.traffic.prompt == Lengths(1000, 7000)


def test_an_engine_without_rules_is_refused():
    said = "engine.name names 'trtllm', an engine whose rules attnpin does not know; "
    assert refusal("engine.name=trtllm").startswith(said)


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        composed().scenario.engine.page_size = 64  # type: ignore[misc]


def test_a_named_gpu_is_taken_from_its_sheet():
    settings = composed("gpu=h200")
    assert not settings.gpu_is_auto
    assert (settings.scenario.gpu.sm, settings.scenario.gpu.bandwidth_bytes_per_s) == (90, 4.8e12)


def test_unknown_figures_of_a_gpu_stay_none():
    gpu = composed("gpu=cpu_x86").scenario.gpu
    assert gpu == Gpu("x86 CPU", "cpu", None, None, None, None, None, None, None, None, "not seen", arch="x86_64")


def test_a_figure_of_a_named_gpu_can_be_set_and_must_make_sense():
    assert composed("gpu=apple_mps", "gpu.memory_bytes=68719476736").scenario.gpu.memory_bytes == 64 << 30
    with pytest.raises(UsageError, match="gpu.memory_bytes=-1 is not possible; it must be above 0"):
        composed("gpu=h200", "gpu.memory_bytes=-1")


def test_one_block_a_process_is_refused_since_no_pair_of_processes_could_count() -> None:
    with pytest.raises(UsageError, match="measure.timing.blocks=1 is not possible; it must be at least 2"):
        composed("gpu=h200", "measure.timing.blocks=1")


def test_the_sheets_are_those_of_real_gpus():
    names_of = {sheet.name for sheet in gpu_sheets()}
    assert {"NVIDIA H200", "NVIDIA L4", "NVIDIA B200", "AMD Instinct MI300X", "x86 CPU"} <= names_of and "auto" not in names_of


def test_a_backend_of_ones_own_comes_from_the_folder_given(tmp_path):
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend" / "mine.yaml").write_text("# @package backends.mine\nsource: my wiki\nlimits: [{rule: device, allowed: [cpu]}]\n")
    assert [entry.name for entry in compose(["backend=[mine]"], str(tmp_path)).entries] == ["mine"]


def test_a_model_of_ones_own_comes_from_the_folder_given_and_ours_keep_their_names(tmp_path):
    (tmp_path / "model").mkdir()
    ours = (Path(names.__file__).parents[2] / "conf" / "model" / "tiny.yaml").read_text()
    for name in ("tiny", "larger"):
        (tmp_path / "model" / f"{name}.yaml").write_text(ours.replace("layers: 4", "layers: 5"))
    assert compose(["model=larger", "backend=[]"], str(tmp_path)).scenario.model.attention_layers == 5
    assert compose(["model=tiny", "backend=[]"], str(tmp_path)).scenario.model.attention_layers == 4


@pytest.mark.parametrize(
    ("override", "key", "nearest"),
    [
        ("model=qwen3_8", "qwen3_8", "qwen3_8b"),
        ("gpu=h2000", "h2000", "h200"),
        ("backend=[fa33]", "fa33", "fa3"),
        ("backend=fa33", "fa33", "fa3"),
        ("measure.backends=[trition]", "measure.backends", "triton"),
        ("engine.attention_backend=flashinfr", "engine.attention_backend", "flashinfer"),
        ("engine.features=[determnistic]", "engine.features", "deterministic"),
        ("engine.tensor_paralel=4", "engine.tensor_paralel", "engine.tensor_parallel"),
        ("tensor_parallel=4", "tensor_parallel", "engine.tensor_parallel"),
        ("trafic=chat", "trafic", "traffic"),
        ("engine.kv_cache_dtype=fp8_e4m", "engine.kv_cache_dtype", "fp8_e4m3"),
        ("decide.objective=throughputt", "decide.objective", "throughput"),
        ("+engine.pagesize=4", "engine.pagesize", "engine.page_size"),
        ("tiny", "tiny", "model=tiny"),
        ("model.layers=[{nam: x}]", "model.layers has no 'nam'", "name"),
        ("engine.speculative.algorithm=EAGEL3", "engine.speculative.algorithm", "EAGLE3"),
        ("engine.speculative.algorithm=ngrma", "engine.speculative.algorithm", "NGRAM"),
        ("model.declared_kv_dtype=float8_e4m3", "model.declared_kv_dtype", "float8_e4m3fn"),
    ],
)
def test_a_typo_gets_the_nearest_name(override, key, nearest):
    text = refusal(override)
    assert repr(key) in text or key in text
    assert f"did you mean {nearest}" in text


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (
            "pin.path=ünï/pin.yaml",
            "The override 'pin.path=ünï/pin.yaml' cannot be read; put its value in quotes of its own: 'pin.path=\"ünï/pin.y",
        ),
        ("measure.backends=fa3", "measure.backends=fa3 is one value where a list is asked; write 'measure.backends=[fa3]'"),
        ("measure.timing=5", "measure.timing=5 is one value for a group of settings; set them one by one, such as measure.timing.blocks"),
        ("model=tiny,qwen3_8b", "model=tiny,qwen3_8b gives several values; give one, or a list as key=[a,b]; `attnpin tune --multirun` "),
        ("measure.variants=[{backend: a, x: 4}]", "measure.variants[0]: value 4 (int) is incompatible with type hint 'str'; put it in "),
    ],
)
def test_a_value_of_another_shape_is_told_how_to_be_written(override, said):
    assert refusal(override).startswith(said)


def test_a_slip_inside_an_entry_of_a_list_is_said_with_the_list():
    text = refusal("gpu=simulated", "gpu.simulated.faults=[{kind: nans, phase: decod}]")
    assert text == "in gpu.simulated.faults: phase cannot be 'decod'; did you mean decode?"


@pytest.mark.parametrize(
    ("override", "key", "nearest"),
    [
        ("faults=[{kind: hang, backend: flashinfr}]", "faults[0].backend", "flashinfer"),
        ("releases=[{module: flashinfer, version: '1', backend: tritn, factor: 2}]", "releases[0].backend", "triton"),
        ("releases=[{module: flashinferr, version: '1', backend: triton, factor: 2}]", "releases[0].module", "flashinfer"),
        ("knobs=[{backend: fa33, knob: x, value: y, factor: 2}]", "knobs[0].backend", "fa3"),
        ("boards=[{paces: [{backend: tritonn, factor: 2}]}]", "boards[0].paces[0].backend", "triton"),
    ],
)
def test_what_is_said_of_a_simulated_gpu_names_backends_that_there_are(override, key, nearest):
    text = refusal("gpu=simulated", f"gpu.simulated.{override}")
    assert f"gpu.simulated.{key} names " in text and f"did you mean {nearest}" in text


def test_an_algorithm_like_none_that_is_known_is_left_to_the_engine():
    assert composed("engine.speculative.algorithm=of_a_plugin").scenario.engine.speculation.algorithm == "of_a_plugin"


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("traffic.concurrency=-1", "traffic.concurrency=-1"),
        ("gpu.memory_bytes=80000000000", "gpu.memory_bytes=80000000000 has no say beside gpu=auto"),
        ("engine.tensor_parallel=0", "engine.tensor_parallel=0"),
        ("measure.memory_fraction=0", "measure.memory_fraction=0"),
        ("measure.memory_fraction=1.5", "measure.memory_fraction=1.5"),
        ("measure.timing.replay_ms=nan", "measure.timing.replay_ms=nan"),
        ("measure.timing.warmup_cap_s=inf", "measure.timing.warmup_cap_s=inf"),
        ("patience.timing=0s", "patience.timing=0s leaves no time at all"),
        ("patience.building=60", "patience.building=60 is no span of time; write a number with its unit: 90s, 15m or 2h"),
        ("traffic.cached_share=1", "traffic.cached_share=1"),
        ("decide.confidence=1", "decide.confidence=1"),
        ("engine.page_size=0", "engine.page_size=0"),
        ("engine.mem_fraction_static=1", "engine.mem_fraction_static=1"),
        ("traffic.prompt.median_tokens=7000", "exceeds traffic.prompt.p95_tokens=6000"),
        ("engine.tensor_parallel=3", "8 query heads do not divide over 3 attention ranks (engine.tensor_parallel=3)"),
        ("model.layers.0.kv_heads=3", "8 query heads do not divide over 3 KV heads"),
        ("model.layers.0.head_dim=0", "has a size below 1"),
        ("model.layers=[]", "model tiny has no layers"),
        ("engine.page_size=big", "engine.page_size"),
        ("model.name=null", "model.name"),
        ("model=null", "overrides cannot be used"),
        ("model=[a", "'model=[a' cannot be read"),
        ("qwen", "'qwen' is not an override"),
    ],
)
def test_nonsense_is_refused_in_one_sentence_that_names_it(override, named):
    text = refusal(override)
    assert named in text and "\n" not in text


def test_a_prefix_that_all_share_is_in_a_cache_that_holds_something():
    assert "traffic.cached_share=0.0 says nothing is; raise it" in refusal("traffic.shared_prefix_tokens=500", "traffic.cached_share=0")
    assert composed("traffic.shared_prefix_tokens=500").scenario.traffic.shared_prefix_tokens == 500


def test_a_backend_outside_the_selection_cannot_be_the_explicit_choice():
    assert "choose one of fa3, triton" in refusal("backend=[fa3,triton]", "engine.attention_backend=flashinfer")


def test_a_folder_of_groups_that_is_not_there_is_named():
    assert "--config-dir /nowhere is not a folder" in refusal(config_dir="/nowhere")


def test_a_configuration_file_that_is_no_yaml_is_a_usage_error(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text("name: [unclosed\n")
    assert "not YAML" in refusal("model=mine", config_dir=str(tmp_path))


def test_a_backend_entry_that_makes_no_sense_names_backend_and_key(tmp_path):
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend" / "mine.yaml").write_text("# @package backends.mine\nlimit: []\n")
    text = refusal("backend=[mine]", config_dir=str(tmp_path))
    assert "backend mine" in text and "'limit'" in text


def test_a_backend_that_compiles_while_serving_is_allowed_on_request_only() -> None:
    allowed = [composed(*overrides).scenario.engine.allow_serving_jit for overrides in ([], ["engine.allow_serving_jit=true"])]
    assert allowed == [False, True]
