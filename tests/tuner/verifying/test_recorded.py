"""Servers that were recorded: what their log says and what they answered at `/server_info` is the same, and it is judged alike.

Those named h200 are SGLang 0.5.16's on an H200, with the weights of Qwen3-8B made up: fa3 by default, triton and flashinfer as the user
set them, and the pair of fa4 for prefill and fa3 for decode."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reports.verified import render_text
from store.serving.verified import DECODE, PAGE_SIZE, PREFILL, Standing
from tests.tuner.verifying.pinned import log, pinned, pinned_as, starts
from tuner.engines.lookup import spoken_by
from tuner.verifying.ask import ask
from tuner.verifying.expected import Expected
from tuner.verifying.judge import judged

ANSWERS = Path(__file__).parent / "answers"


@contextmanager
def replayed(body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/server_info" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("name", sorted(path.stem for path in ANSWERS.glob("sglang-*.json")))
def test_a_log_and_an_answer_of_one_server_say_the_same(name: str) -> None:
    body = (ANSWERS / f"{name}.json").read_bytes()
    with replayed(body) as url:
        answered = ask(url, spoken_by("sglang"), "sglang")
    said = dict(starts(log(name))[-1].settings)
    assert not answered.missing and answered.version == json.loads(body)["version"]
    for what in (PREFILL, DECODE, PAGE_SIZE):
        assert dict(answered.settings)[what].value == said[what].value


@pytest.mark.parametrize(
    ("name", "wanted", "standing", "says"),
    [
        ("fa3", pinned(), Standing.AS_PINNED, "as pinned: the server runs fa3, page size 1, KV dtype bfloat16"),
        ("triton", pinned(), Standing.DIFFERENT, "different: decode triton instead of fa3; prefill triton instead of fa3"),
        ("flashinfer", pinned(), Standing.DIFFERENT, "different: decode flashinfer instead of fa3; prefill flashinfer instead of fa3"),
        ("flashinfer", pinned_as("flashinfer", "flashinfer"), Standing.AS_PINNED, "as pinned: the server runs flashinfer, page size 1"),
        ("hybrid", pinned(), Standing.DIFFERENT, "different: prefill fa4 instead of fa3"),
        ("hybrid", pinned_as("fa4", "fa3"), Standing.AS_PINNED, "as pinned: the server runs prefill fa4, decode fa3, page size 1"),
        ("hybrid", pinned_as("fa4", "fa4"), Standing.DIFFERENT, "different: decode fa3 instead of fa4"),
    ],
)
def test_a_server_of_an_h200_is_held_against_a_pin(name: str, wanted: Expected, standing: Standing, says: str) -> None:
    found = judged(starts(log(f"sglang-0.5.16-h200-{name}")), wanted)
    assert found.standing is standing and render_text(found).startswith(says)
    assert "captured for" in render_text(found)


def test_the_engines_own_line_is_quoted_for_a_pair_that_was_not_pinned() -> None:
    """It says "not specified" and the default too, as both halves were named and the base was not."""
    text = render_text(judged(starts(log("sglang-0.5.16-h200-hybrid")), pinned()))
    assert "cause        hybrid: prefill_attention_backend=fa4 goes before the base, attention_backend=fa3" in text
    assert '"Using hybrid attention backend for decode and prefill: decode_backend=fa3, prefill_backend=fa4."' in text


def test_the_answer_of_a_pair_is_judged_as_its_log_is() -> None:
    with replayed((ANSWERS / "sglang-0.5.16-h200-hybrid.json").read_bytes()) as url:
        answered = ask(url, spoken_by("sglang"), "sglang")
    assert [judged([answered], wanted).standing for wanted in (pinned(), pinned_as("fa4", "fa3"))] == [
        Standing.DIFFERENT,
        Standing.AS_PINNED,
    ]
