"""Servers that were recorded: what their log says and what they answered at `/server_info` is the same."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from store.verified import DECODE, PAGE_SIZE, PREFILL
from tests.tuner.verifying.pinned import log, starts
from tuner.engines.lookup import spoken_by
from tuner.verifying.ask import ask

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
