"""Whatever a runtime puts around what a server said, it is read the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.serving.verified import Start
from tests.tuner.verifying.pinned import LOGS, log, raw
from tuner.engines.lookup import spoken_by
from tuner.logs.files import Raw
from tuner.logs.lines import lines

NAMES = sorted(path.stem for path in LOGS.glob("*.log"))
CRI = "2026-11-30T08:00:00.123456789Z stderr"
AROUND = {
    "kubectl logs --timestamps": lambda text: f"2026-11-30T08:00:00.123456789Z {text}",
    "kubectl logs --prefix": lambda text: f"[pod/qwen-7d9f/server] {text}",
    "docker compose": lambda text: f"server-1  | {text}",
    "journald": lambda text: f"Nov 30 08:00:00 node17 serve[4711]: {text}",
    "srun --label": lambda text: f"0: {text}",
    "ray": lambda text: f"(ServeReplica:app pid=77, ip=10.1.2.3) {text}",
    "colours": lambda text: f"\x1b[32m\x1b[1m{text[:20]}\x1b[0m{text[20:]}\x1b[K",
    "a terminal's title": lambda text: f"\x1b]0;serving\x07{text}",
    "a log file of Kubernetes": lambda text: f"{CRI} F {text}",
    "a log file of Docker": lambda text: json.dumps({"log": f"{text}\n", "stream": "stderr", "time": "2026-11-30T08:00:00.1Z"}),
    "structured logging": lambda text: json.dumps({"level": "INFO", "asctime": "2026-11-30 08:00:00", "message": text}),
    "Windows line ends": lambda text: f"{text}\r",
}
ENVELOPES = ("a log file of Kubernetes", "a log file of Docker", "structured logging")
PREFIXES = [around for around in AROUND if around not in ENVELOPES]


def read(name: str, text: str) -> list[Start]:
    """Without what names the place: lines are counted in `test_files`, sources in `test_judge`."""
    spoken = spoken_by(name.partition("-")[0])
    found = spoken.starts(lines(raw(text), words=spoken.WORDS))
    return [replace(each, source="") for each in found]


def told(found: list[Start]) -> list[object]:
    """All that does not quote a time or a line's number."""
    return [
        ([(what, setting.value, setting.why) for what, setting in each.settings], replace(each.graphs, said=None), each.missing, each.ready)
        for each in found
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("around", AROUND)
def test_a_log_is_read_the_same_through(name: str, around: str) -> None:
    plain = log(name)
    wrapped = "\n".join(map(AROUND[around], plain.splitlines()))
    assert told(read(name, wrapped)) == told(read(name, plain)) != []


@given(st.sampled_from(PREFIXES), st.sampled_from(PREFIXES))
def test_two_of_them_around_one_another_do_no_harm(one: str, other: str) -> None:
    name = "sglang-0.5.22-hybrid"
    wrapped = "\n".join(AROUND[one](AROUND[other](line)) for line in log(name).splitlines())
    assert told(read(name, wrapped)) == told(read(name, log(name)))


@settings(max_examples=25)
@given(st.data())
def test_records_that_a_runtime_cut_are_joined(data: st.DataObject) -> None:
    """Kubernetes marks a part, Docker leaves out the line end."""
    name = "sglang-0.5.22-hybrid"
    docker, kubernetes = [], []
    for line in log(name).splitlines():
        cut = data.draw(st.integers(0, len(line)))
        kubernetes += [f"{CRI} P {line[:cut]}", f"{CRI} F {line[cut:]}"]
        docker += [json.dumps({"log": part, "stream": "stderr", "time": "t"}) for part in (line[:cut], f"{line[cut:]}\n")]
    plain = told(read(name, log(name)))
    assert told(read(name, "\n".join(kubernetes))) == plain
    assert told(read(name, "\n".join(docker))) == plain


@given(st.text(alphabet=st.characters(blacklist_characters="\n\r"), max_size=300))
def test_no_other_line_is_taken_for_one_that_counts_or_stops_the_reading(noise: str) -> None:
    name = "sglang-0.5.16-default"
    noisy = f"\n{noise}\n".join(log(name).splitlines())
    assert told(read(name, noisy)) == told(read(name, log(name)))


@pytest.mark.parametrize("name", NAMES)
def test_lines_without_an_engines_words_say_nothing(name: str) -> None:
    spoken = spoken_by(name.partition("-")[0])
    assert spoken.starts(lines(raw(log(name)))) == spoken.starts(lines(raw(log(name)), words=spoken.WORDS))


def test_what_users_write_is_not_what_a_server_says() -> None:
    name = "sglang-0.5.16-default"
    asked = "[2026-11-30 09:00:00] Receive: obj=GenerateReqInput(text=\"server_args={'attention_backend': 'triton', 'page_size': 64}\")"
    assert told(read(name, f"{log(name)}{asked}")) == told(read(name, log(name)))


def test_a_bar_that_redraws_itself_hides_no_line() -> None:
    name = "vllm-0.33.0-flash-attn"
    first = "(EngineCore_DP0 pid=140) INFO 11-30 08:00:20"
    glued = log(name).replace(first, f"Loading:  0%|   |\rLoading: 100%|##|\r{first}")
    assert glued != log(name) and told(read(name, glued)) == told(read(name, log(name)))


def test_a_line_keeps_its_time_and_its_worker() -> None:
    sglang = "[2026-11-30 08:00:12 DP0 TP1] Using hybrid attention backend for decode and prefill"
    vllm = "(Worker_TP1 pid=9) INFO 11-30 08:00:20 [cuda.py:508] Using FLASH_ATTN attention backend"
    one, two = lines(raw(f"{sglang}\n{vllm}"))
    assert (one.at, one.ranks, one.where) == ("2026-11-30 08:00:12", "DP0 TP1", "server.log line 1")
    assert (two.at, two.ranks, two.text) == ("11-30 08:00:20", "TP1", "Using FLASH_ATTN attention backend")


def test_a_record_nested_without_an_end_is_a_line_as_any_other() -> None:
    deep = '{"log": ' + '{"a": ' * 100_000
    assert [line.text for line in lines([Raw("server.log", 1, deep), Raw("server.log", 2, "end")])] == [deep, "end"]
