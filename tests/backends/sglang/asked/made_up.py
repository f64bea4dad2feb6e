"""Packages that stand in for an SGLang where its argument resolution is asked: small, with the layouts of two releases and of none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

COMMON = """\
import os

def is_cuda(): return False
def is_hip(): return False
def is_cpu(): return True
def is_sm100_supported(): return False
def get_device_sm(): return 0
def get_device_memory_capacity(device=None): return 1000
"""
# What 0.5.16 and 0.5.22 share; a model is served by the backend that its configuration names.
ARGUMENTS = """\
import json, os
from types import SimpleNamespace
from sglang.srt.utils.common import get_device_memory_capacity, get_device_sm, is_cuda

print("a banner of the library")

class ServerArgs:
    def __init__(self, **given):
        self.__dict__.update(given)
        self.speculative_draft_attention_backend = None
        self.disable_radix_cache = self.disable_overlap_schedule = False
        self.cuda_graph_config = SimpleNamespace(decode=SimpleNamespace(backend="full"), prefill=SimpleNamespace(backend="full"))
        self.after_making()

    @staticmethod
    def add_cli_args(parser):
        for name in ("model-path", "device", "prefill-attention-backend", "decode-attention-backend", "kv-cache-dtype"):
            parser.add_argument(f"--{name}")
        parser.add_argument("--attention-backend", choices=("fa3", "triton", "flashinfer"))
        parser.add_argument("--page-size", type=int)

    @classmethod
    def from_cli_args(cls, given):
        return cls(**vars(given))

    def check_server_args(self):
        assert self.page_size != 48, "no page of 48"

    def resolve(self):
        config = json.load(open(os.path.join(self.model_path, "config.json")))
        os.environ["RESOLVED"] = os.environ.get("RESOLVED", "") + "x"
        if config.get("raises") == "elsewhere":
            json.loads("no json")
        if config.get("raises"):
            raise {"TypeError": TypeError, "ValueError": ValueError}[config["raises"]]("the model is refused")
        on_gpu = "fa3" if get_device_sm() == 90 else "trtllm_mha"
        self.attention_backend = self.attention_backend or (on_gpu if is_cuda() else "triton")
        self.page_size = self.page_size or int(get_device_memory_capacity() / 1000) * len(os.environ["RESOLVED"])
        self.kv_cache_dtype = self.kv_cache_dtype or "auto"
"""
LAYOUTS = {
    "0.5.16": "    after_making = lambda self: self._handle_attention_backend_compatibility()\n"
    "    def _handle_attention_backend_compatibility(self): self.resolve()\n",
    "0.5.22": "    after_making = lambda self: None\n    def resolve_once(self): self.resolve()\n",
    "unknown": "    after_making = lambda self: None\n",
}
OVERRIDES = "def resolved_view(arguments): return arguments\n"
TORCH = "class cuda: get_device_capability = None\n"


def write(folder: Path, layout: str, version: str = "9.9.9", *changes: tuple[str, str]) -> list[str]:
    """The folders that go first on the path of a Python that shall have this SGLang, and a torch as small. ``changes``: in its
    source, one text in the place of another each."""
    sglang = folder / "sglang"
    (sglang / "srt" / "utils").mkdir(parents=True)
    (sglang / "srt" / "arg_groups").mkdir()
    for package in ("", "srt", "srt/utils", "srt/arg_groups"):
        (sglang / package / "__init__.py").write_text("")
    (sglang / "srt" / "utils" / "common.py").write_text(changed(COMMON, changes))
    (sglang / "srt" / "arg_groups" / "overrides.py").write_text(OVERRIDES)
    (sglang / "srt" / "server_args.py").write_text(changed(ARGUMENTS + LAYOUTS[layout], changes))
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text(TORCH)
    (folder / "torch" / "version.py").write_text("__version__ = '0'\n")
    about = folder / f"sglang-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: sglang\nVersion: {version}\n")
    (about / "RECORD").write_text("sglang/__init__.py,sha256=made-up,0\n")
    return [str(folder)]


def changed(source: str, changes: Iterable[tuple[str, str]]) -> str:
    for old, new in changes:
        source = source.replace(old, new)
    return source
