"""How things are called in every report: pairs, flags, engines and phases."""

from __future__ import annotations

from backends.cell import Phase
from reports.page import clean
from store.decision import Decision, Pair
from store.pin import Pin
from store.run import Run

ENGINES = {"sglang": "SGLang", "vllm": "vLLM"}
SHORT_DIGEST = 12
EVIDENCE_SUFFIX = ".evidence.jsonl.zst"


def engine(name: str) -> str:
    return ENGINES.get(name, name)


def pair(arms: Pair) -> str:
    """The arm once where both phases share it."""
    return arms.decode if arms.prefill == arms.decode else f"prefill {arms.prefill}, decode {arms.decode}"


def default(run: Run, decision: Decision) -> str:
    """The arms that would run without a pin; where they were not measured, the backends the engine picks."""
    return pair(decision.default or Pair(run.default.prefill, run.default.decode))


def flags(values: tuple[tuple[str, str], ...]) -> str:
    return " ".join(f"--{name} {value}" for name, value in values)


def unset(because: str | None) -> str:
    """The reason alone, where the record already says "unset, because"."""
    return clean(because or "nothing was decided").removeprefix("unset, because ")


def arm_of(arms: Pair, phase: Phase) -> str:
    return arms.decode if phase is Phase.DECODE else arms.prefill


def digest(value: str) -> str:
    """The start of a content hash, without the name of its algorithm."""
    return value.rpartition(":")[2][:SHORT_DIGEST]


def title(run: Run) -> str:
    scenario = run.scenario
    return f"{scenario.model.name} on {clean(run.environment.board.name)}, {scenario.traffic.name} traffic"


def engine_line(run: Run) -> str:
    """Which engine was found where the arms ran, and whose rules were applied."""
    name, rules = engine(run.scenario.engine.name), run.default.rules_version
    found = f"{name} {run.engine_version} was on the worker's path" if run.engine_version else f"no {name} was on the worker's path"
    return f"{found}; the rules of {name} {rules} were applied"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """ "1 arm", "2 arms"; ``plural`` where an s is not enough."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def valid_for(pin: Pin) -> str:
    """The environment of a pin in one sentence part."""
    holds = pin.valid_for
    known = (("sm", holds.sm), ("MIG", holds.mig), ("driver", holds.driver))
    board = [holds.gpu, *(f"{name} {value}" for name, value in known if value)]
    software = [f"{engine(holds.engine)} {holds.engine_version}", *(f"{name} {version}" for name, version, _ in holds.distributions)]
    server = [f"tensor parallel {holds.tensor_parallel}", f"KV cache {holds.kv_cache_dtype}", f"page size {holds.page_size}"]
    load = [f"model {holds.model}", f"{holds.traffic} traffic"]
    return "; ".join(", ".join(part) for part in (board, software, server, load))


def check(pin: Pin) -> str:
    """The command that says whether the pin still stands on what it was made on."""
    return f"attnpin check --pin {pin.evidence[0].removesuffix(EVIDENCE_SUFFIX)}.yaml --fast"
