"""A pin whose decode is FlashInfer's and whose default is fa3, with what was installed then; and what is installed now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from backends.environment import Distribution, Environment
from store.pins.pin import Pin
from store.pins.pin_files import write_pin
from store.runs.run import Run
from tests.tuner.building import ENGINE, H200, LAYER, MODEL, one_cell_each
from tests.tuner.image.writing import freeze
from tuner.decide import decide
from tuner.image.environment import environment_of
from tuner.image.listing import Listing
from tuner.image.reading import listing_of
from tuner.pin import pin_of
from tuner.unmeasured.issues import Knowledge, knowledge

THEN = {
    **{"sglang": "0.5.16", "flashinfer-python": "0.6.14", "sglang-kernel": "0.4.5", "torch": "2.11.0", "triton": "3.6.0"},
    **{"apache-tvm-ffi": "0.1.11", "wave-lang": "3.0"},
}
IMPORTS = (
    *(("flashinfer", "apache-tvm-ffi"), ("flashinfer", "flashinfer-python"), ("sgl_kernel", "sglang-kernel"), ("wave_lang", "wave-lang")),
    *(("sglang", "sglang-kernel"), ("sglang", "triton"), ("sglang", "sglang"), ("torch", "torch"), ("triton", "triton")),
)
PACKAGES = {"fa3": ("sglang", "sgl_kernel"), "flashinfer": ("sglang", "flashinfer"), "wave": ("wave_lang",)}
FLASHINFER_DECODES = {"fa3": (500.0, 100.0), "flashinfer": (520.0, 50.0), "wave": (900.0, 900.0)}
FA3_STAYS = {"fa3": (500.0, 50.0), "flashinfer": (520.0, 100.0), "wave": (900.0, 900.0)}


@dataclass(frozen=True)
class Pinned:
    pin: Pin
    run: Run

    def with_(self, **versions: str | None) -> Mapping[str, str]:
        """What is installed then, changed; "_" in a keyword is "-" in the name, None = not there."""
        now = {each.name: each.version for each in self.run.environment.distributions}
        now |= {name.replace("_", "-"): version or "" for name, version in versions.items()}
        return {name: version for name, version in now.items() if version}

    def now(self, versions: Mapping[str, str]) -> Environment:
        return environment_of(listing(versions), self.run, known().packages.distributions)

    def written(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_pin(path, self.pin, "# a pin\n", self.run)
        return path


@cache
def known() -> Knowledge:
    return knowledge()


def listing(versions: Mapping[str, str]) -> Listing:
    return listing_of(freeze(versions).encode(), "packages.txt")


def pinned(
    times: Mapping[str, tuple[float, float]] = FLASHINFER_DECODES,
    heads: tuple[int, int] = (16, 1),
    sm: int = 90,
    kv_dtype: str = "bfloat16",
    **versions: str,
) -> Pinned:
    """``heads``: query and KV heads; ``versions`` as for `Pinned.with_`, of when the pin was made."""
    layer = replace(LAYER, query_heads=heads[0], kv_heads=heads[1])
    then = THEN | {name.replace("_", "-"): version for name, version in versions.items()}
    engine = replace(ENGINE, version=then["sglang"])
    run = one_cell_each(times, model=replace(MODEL, layers=(layer,)), gpu=replace(H200, sm=sm), engine=engine)
    found = tuple(Distribution(name, version, f"{index:064d}") for index, (name, version) in enumerate(sorted(then.items())))
    run = replace(
        run,
        environment=replace(run.environment, distributions=found, imports=IMPORTS, torch=f"{then['torch'].partition('+')[0]}+cu130"),
        default=replace(run.default, kv_cache_dtype=kv_dtype),
        arms=tuple(replace(arm, packages=PACKAGES[arm.backend], kv_dtype=kv_dtype) for arm in run.arms),
    )
    run = replace(run, decision=decide(run))
    assert run.decision is not None
    return Pinned(pin_of(run, run.decision, ("pin.evidence.jsonl.zst", "00")), run)
