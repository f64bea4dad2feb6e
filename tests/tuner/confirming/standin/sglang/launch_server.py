"""Prints the lines of SGLang 0.5.16 that tell what it serves, then answers over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sglang.standing import backend, flag, option, wobble

CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"  # a scheduler that does not listen


def say(text: str) -> None:
    print(f"[2026-11-30 08:00:00] {text}", flush=True)


def split(side: str) -> str:
    return repr(option(f"{side}-attention-backend", "") or None)


def start() -> None:
    pool, port, name = int(option("pool", "812345")), option("port", "30000"), backend()
    if "--attention-backend" not in sys.argv:
        say(f"Attention backend not specified. Use {name} backend by default.")
    graphs, chunk = "disabled" if flag(f"eager-{name}") else "full", option(f"chunk-{name}", "8192")
    say(
        f"server_args=ServerArgs(model_path='m', kv_cache_dtype='auto', chunked_prefill_size={chunk}, page_size=1, "
        f"device='cuda', host='127.0.0.1', port={port}, random_seed={hash(port) % 1000}, api_key='sk-made-up', "
        f"attention_backend={option('attention-backend', 'fa3')!r}, decode_attention_backend={split('decode')}, "
        f"prefill_attention_backend={split('prefill')}, "
        f"cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(backend='{graphs}', max_bs=16, bs=[1, 2, 4, 8, 16])))"
    )
    say(f"KV Cache is allocated. dtype: torch.bfloat16, #tokens: {pool}, K size: 55.78 GB, V size: 55.78 GB")
    if graphs == "full":
        say("Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2, 4, 8, 16], avail mem=14.02 GB")
    pool += int(option(f"more-{name}", "0"))
    say(f"max_total_num_tokens={pool}, chunked_prefill_size=8192, max_prefill_tokens=16384, context_len=40960, available_gpu_mem=13.11 GB")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if (key := option("api-key", "")) and self.headers["Authorization"] != f"Bearer {key}":
            self.send_error(401)
            return
        body = {"attention_backend": backend(), "wobble": wobble(option("port", ""))} if self.path == "/server_info" else {}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *words: object) -> None:
        pass


def ordered(*_: object) -> None:
    say("SIGTERM received. Draining requests and shutting down...")
    sys.exit(0)


def main() -> None:
    if flag("deaf"):  # takes no split flags
        sys.argv = [word for word in sys.argv if "decode-" not in word]
    if flag(f"broken-{backend()}"):
        raise SystemExit("RuntimeError: no kernel image is available for execution on the device")
    start()
    subprocess.Popen([sys.executable, "-c", CHILD, option("model-path", "")])
    if flag("silent"):
        time.sleep(600)
    if "STANDIN_ENDS" in os.environ:
        Path(os.environ["STANDIN_ENDS"]).write_text(str(os.getpid()))
    server = ThreadingHTTPServer(("127.0.0.1", int(option("port", "30000"))), Handler)
    signal.signal(signal.SIGTERM, ordered)
    say("The server is fired up and ready to roll!")
    server.serve_forever()


if __name__ == "__main__":
    main()
