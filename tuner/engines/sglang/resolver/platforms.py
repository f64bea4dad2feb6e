"""What a platform settles before any model is looked at."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import BASE_UNSET, CPU, DECODE_GRAPH_OPEN, HPU, MPS, NPU, PAGE_UNSET, XPU
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/platform_hook.py"
NPU_DEFAULTS = "sglang/srt/hardware_backend/npu/utils.py, set_default_server_args"
ARM64 = Condition("arm64 processor", lambda r, s: r.machine.arm64)

RULES = (
    Rule("platform.hpu", (HPU,), sets(base="torch_native"), "Gaudi serves with torch's own attention.", f"{HOOK}, handle_hpu_backends"),
    Rule("platform.cpu-arm", (CPU, BASE_UNSET, ARM64), sets(base="torch_native"), "AMX is x86.", f"{HOOK}, handle_cpu_backends"),
    Rule("platform.cpu", (CPU, BASE_UNSET), sets(base="intel_amx"), "A CPU serves with AMX kernels.", f"{HOOK}, handle_cpu_backends"),
    Rule(
        "platform.npu",
        (NPU,),
        sets(base="ascend", prefill="ascend", decode="ascend"),
        "An Ascend NPU has one backend, which replaces whatever was asked for without a word.",
        NPU_DEFAULTS,
    ),
    Rule("platform.npu-page", (NPU, PAGE_UNSET), sets(page_size=128), "Ascend's kernels take pages of 128.", NPU_DEFAULTS),
    Rule(
        "platform.mps",
        (MPS, Condition("MLX off", lambda r, s: r.variable("SGLANG_USE_MLX") is None)),
        sets(overlap=False),
        "The overlapped scheduler needs streams that torch has not got on a Mac.",
        f"{HOOK}, handle_mps_backends",
    ),
    Rule(
        "platform.xpu-decode-graph",
        (XPU, DECODE_GRAPH_OPEN),
        sets(decode_graph="disabled"),
        "Decode graphs are to be asked for on an XPU.",
        f"{HOOK}, handle_xpu_backends",
    ),
    Rule(
        "platform.xpu-decode-kind",
        (XPU, Condition("a decode graph other than full", lambda r, s: s.decode_graph not in ("disabled", "full"))),
        sets(decode_graph="disabled"),
        "An XPU captures decode whole or not at all.",
        f"{HOOK}, handle_xpu_backends",
    ),
    Rule(
        "platform.xpu-prefill-kind",
        (XPU, Condition("a prefill graph other than piecewise", lambda r, s: s.prefill_graph not in ("disabled", "tc_piecewise"))),
        sets(prefill_graph="disabled"),
        "An XPU captured prefill piecewise or not at all.",
        f"{HOOK}, handle_xpu_backends",
        until="0.5.16",
    ),
)

STEPS = (Step("platform", RULES),)
