"""A server asked over HTTP: a local one, in a thread."""

from __future__ import annotations

import json
import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tuner.engines.lookup import spoken_by
from tuner.errors import UsageError
from tuner.verifying.ask import KEY, ask, request_for

INFO = {"attention_backend": "fa3", "page_size": 1, "kv_cache_dtype": "auto", "device": "cuda", "version": "0.5.16"}
Answers = dict[str, tuple[int, object]]
Serving = Callable[[Answers], str]


@pytest.fixture
def serve() -> Iterator[Serving]:
    """Starts a server that answers paths so; everything else is not found. A key is asked for where "key" is among the answers."""
    servers: list[ThreadingHTTPServer] = []

    def start(answers: Answers) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, body = answers.get(self.path.partition("?")[0], (404, "not found"))
                if "key" in answers and self.headers.get("Authorization") != f"Bearer {answers['key'][1]}":
                    code, body = 401, "no key"
                self.send_response(code)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, format: str, *words: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_name_and_password_in_the_address_go_before_a_key(serve: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "of the environment")
    assert dict(request_for("https://h:1/x").unredirected_hdrs) == {"Authorization": "Bearer of the environment"}
    asked = request_for("https://me:p%40w@h:1/x", "mine")
    assert asked.full_url == "https://h:1/x" and asked.unredirected_hdrs["Authorization"] == f"Basic {b64encode(b'me:p@w').decode()}"
    address = serve({"/server_info": (200, INFO)}).replace("http://", "http://me:pw@")
    assert not ask(address, spoken_by("sglang"), "sglang").missing


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    ],
    ids=["nothing", "another protocol", "broken chunks", "too many headers"],
)
def test_what_is_no_http_is_no_server(reply: bytes) -> None:
    def answer(served: socket.socket) -> None:
        connection, _ = served.accept()
        connection.recv(4096)
        connection.sendall(reply)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as served:
        threading.Thread(target=answer, args=(served,), daemon=True).start()
        with pytest.raises(UsageError, match=r"^no server answers at --url [^\n]+; give the address that it serves on$"):
            ask(f"http://127.0.0.1:{served.getsockname()[1]}", spoken_by("sglang"), "sglang")


def test_json_without_an_end_is_no_answer(serve: Serving) -> None:
    start = ask(serve({"/server_info": (200, b"[" * 100_000)}), spoken_by("sglang"), "sglang")
    assert "is no SGLang" in start.missing[0]


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
def test_the_current_path_is_asked_and_the_deprecated_one_after_it(serve: Serving, path: str) -> None:
    start = ask(serve({path: (200, INFO)}), spoken_by("sglang"), "sglang")
    assert dict(start.settings)["decode"].value == "fa3" and start.began is not None and start.began.where == path[1:]


def test_an_address_without_a_scheme_and_with_a_slash_is_one(serve: Serving) -> None:
    address = serve({"/server_info": (200, INFO)}).removeprefix("http://")
    assert not ask(f"{address}/", spoken_by("sglang"), "sglang").missing


def test_a_key_comes_from_the_environment(serve: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    url = serve({"/server_info": (200, INFO), "key": (0, "made-up")})
    with pytest.raises(UsageError, match=f"asks for a key at server_info .*{KEY}"):
        ask(url, spoken_by("sglang"), "sglang")
    monkeypatch.setenv(KEY, "made-up")
    assert not ask(url, spoken_by("sglang"), "sglang").missing


def test_a_server_of_this_machine_is_asked_without_the_proxy(serve: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert not ask(serve({"/server_info": (200, INFO)}), spoken_by("sglang"), "sglang").missing


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({}, "offers neither server_info nor get_server_info: give its log"),
        ({"/server_info": (503, "starting")}, "it is not ready yet: wait with --follow"),
        ({"/server_info": (200, {"status": "ok"})}, "is no SGLang"),
        ({"/server_info": (200, b"<html>")}, "is no SGLang"),
    ],
)
def test_an_answer_that_does_not_tell_says_why(serve: Serving, answers: Answers, says: str) -> None:
    (missing,) = ask(serve(answers), spoken_by("sglang"), "sglang").missing
    assert says in missing


def test_vllm_is_asked_for_its_configuration_as_json(serve: Serving) -> None:
    config = {"attention_config": {"backend": "FLASHINFER"}, "cache_config": {"block_size": 64}}
    start = ask(serve({"/server_info": (200, {"vllm_config": config})}), spoken_by("vllm"), "vllm")
    assert dict(start.settings)["decode"].value == "FLASHINFER"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://name:secret@127.0.0.1:1", r"no server answers at --url 127\.0\.0\.1:1 \("),
        ("file:///etc/passwd", "is no address of a server"),
        ("http://", "is no address of a server"),
        ("http://name:secret@h:port", "is no address of a server"),
        ("h:99999", "is no address of a server"),
        ("http://[::1", "is no address of a server"),
        ("http://h/a b", "is no address of a server"),
        ("http://h\n:1", r"--url http://h :1 is no address"),
        ("[::1]:1", r"no server answers at --url \[::1\]:1 \("),
    ],
)
def test_no_server_is_the_users_to_mend_and_no_password_is_shown(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        ask(url, spoken_by("sglang"), "sglang")
    assert "secret" not in str(error.value)
