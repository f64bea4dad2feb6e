"""How things are called in every report: pairs, flags, engines and phases."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from backends.arm import Arm
from backends.knob import is_variable
from backends.question import ENGINES
from backends.simulated.world import is_simulated
from reports import numbers, onward
from reports.page import clean
from store.decision import Decision, Pair
from store.pins.pin import Pin, Requests, ValidFor
from store.runs.run import RUNNING, Run
from store.scenario import Engine, Scenario, WeightedCell
from store.traffic import Traffic

SHORT_DIGEST = 12
EVIDENCE_SUFFIX = ".evidence.jsonl.zst"


def engine(name: str) -> str:
    return ENGINES.get(name, name)


def pair(arms: Pair) -> str:
    """The arm once where both phases share it."""
    return arms.decode if arms.prefill == arms.decode else f"prefill {arms.prefill}, decode {arms.decode}"


def choices(scenario: Scenario) -> str:
    """ "engine.attention_backend=fa3 and ..." where the user chose a backend, the model's key where it requires one, else ""."""
    required = scenario.model.required_backend
    chosen = [f"engine.{field}={backend}" for field, backend in scenario.engine.choices]
    return f"model.required_backend={required}" if required else " and ".join(chosen)


def whose_choice(scenario: Scenario) -> str:
    return "the model's requirement" if scenario.model.required_backend else "your choice"


def who_chose(scenario: Scenario) -> str:
    return "the model requires" if scenario.model.required_backend else "you chose"


def ranks(engine: Engine) -> str:
    """ "tensor parallel 8, attention data parallel 8": how a server is spread, and the one phase it serves where it is one."""
    others = {
        "pipeline parallel": engine.pipeline_parallel,
        "attention data parallel": engine.attn_dp_size,
        "attention context parallel": engine.attn_cp_size,
        "decode context parallel": engine.dcp_size,
    }
    spread = [f"tensor parallel {engine.tensor_parallel}", *(f"{name} {size}" for name, size in others.items() if size > 1)]
    phases = engine.role.phases
    return ", ".join([*spread, *([f"{phases[0].value} alone"] if len(phases) == 1 else [])])


def default(run: Run, decision: Decision) -> str:
    """The arms that would run without a pin; where they were not measured, the backends the engine picks."""
    return pair(decision.default or Pair(run.default.prefill, run.default.decode))


def default_and_why(run: Run, decision: Decision) -> str:
    """The default and the rule path to it. Why it was not measured is the decision's to say."""
    name, path = default(run, decision), clean(decision.default_because)
    return f"{name}: {path}" if decision.default else f"{name} ({path}), which was not measured"


def by_backend(sentence: str, arms: Iterable[Arm]) -> str:
    """``sentence`` with the backend's name for each arm's where the run has one arm of that backend."""
    arms = tuple(arms)
    counts = Counter(arm.backend for arm in arms)
    for arm in arms:
        if counts[arm.backend] == 1:
            sentence = re.sub(rf"(?<![\w/]){re.escape(arm.name)}(?![\w@])", arm.backend.replace("\\", r"\\"), sentence)
    return sentence


def flags(values: tuple[tuple[str, str], ...]) -> str:
    return " ".join(f"--{name} {value}" for name, value in values)


def settings(flags_set: tuple[tuple[str, str], ...], variables: tuple[tuple[str, str], ...]) -> str:
    """The flags, and what has to stand in the server's environment beside them."""
    beside = " ".join(f"{name}={value}" for name, value in variables)
    return f"{flags(flags_set)} with {beside} in the server's environment" if beside else flags(flags_set)


def option(name: str) -> str:
    """A flag or a variable by its name."""
    return name if is_variable(name) else f"--{name}"


def unset(because: str | None) -> str:
    """The reason alone, where the record already says "unset, because"."""
    return clean(because or "nothing was decided").removeprefix("unset, because ")


def share(weighted: WeightedCell) -> str:
    """Of its phase's tokens."""
    return "guard only" if weighted.is_guard else numbers.percent(weighted.token_share)


def digest(value: str) -> str:
    """The start of a content hash, without the name of its algorithm."""
    return value.rpartition(":")[2][:SHORT_DIGEST]


def status(stored: str) -> str:
    """A run that was not ended is "unfinished", also while a job works on it: from a store that cannot be seen."""
    return "unfinished" if stored == RUNNING else stored


def title(run: Run) -> str:
    scenario = run.scenario
    return f"{scenario.model.name} on {clean(run.environment.board.name)}, {scenario.traffic.name} traffic"


def engine_line(run: Run) -> str:
    """Which engine was found where the arms ran, and whose rules were applied."""
    name, rules = engine(run.scenario.engine.name), run.default.rules_version
    found = f"{name} {run.engine_version} was on the worker's path" if run.engine_version else f"no {name} was on the worker's path"
    if run.default.asked is not None and run.default.asked.failure is None:
        return f"{found} and was asked itself"
    return f"{found}; the rules of {name} {rules} were applied"


def engine_under(pin: Pin) -> str:
    """The engine a pin was measured under, or whose rules stood in for it."""
    name, version, rules = engine(pin.engine), pin.valid_for.engine_version, pin.valid_for.rules_version
    return f"{name} {version}" if version else f"no {name} on the worker's path (the rules of {rules} were applied)"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """ "1 arm", "2 arms"; ``plural`` where an s is not enough."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def the_first(names: Sequence[str], most: int) -> str:
    """ "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def valid_for(pin: Pin) -> str:
    """The environment of a pin in one sentence part."""
    holds = pin.valid_for
    known = (("sm", holds.sm), ("MIG", holds.mig), ("driver", holds.driver))
    board = [holds.gpu, *(f"{name} {value}" for name, value in known if value)]
    if len(pin.boards) > 1:
        board.append(f"seen on {len(pin.boards)} boards")
    software = [engine_under(pin), *(f"{name} {version}" for name, version, _ in holds.distributions)]
    server = [f"tensor parallel {holds.tensor_parallel}", f"KV cache {holds.kv_cache_dtype}", f"page size {holds.page_size}"]
    config = f" (config.json {digest(holds.model_config)})" if holds.model_config else ""
    load = [f"model {holds.model}{config}", traffic(holds)]
    settings = [f"{key}={value}" for key, value in holds.settings]
    return "; ".join(", ".join(part) for part in (board, software, server, load, settings) if part)


def traffic(holds: ValidFor) -> str:
    """ "chat traffic: 64 at once, ..."; the name alone where a pin kept no more."""
    name, load = f"{holds.traffic} traffic", holds.requests
    return name if load is None else f"{name}: {requests(load)}"


def requests(load: Requests | Traffic) -> str:
    """ "64 at once, prompts of 1000 tokens (p95 6000), outputs of 250 (p95 800), 30 % of prompt tokens cached"."""
    prompt, output = load.prompt, load.output
    lengths = (
        f"prompts of {prompt.median_tokens} tokens (p95 {prompt.p95_tokens}), outputs of {output.median_tokens} (p95 {output.p95_tokens})"
    )
    return f"{load.concurrency} at once, {lengths}, {numbers.percent(load.cached_share)} of prompt tokens cached"


def check(pin: Pin, typed: str) -> str:
    """The command that says whether the pin, made by the command that was ``typed``, still stands on what it was made on."""
    return f"attnpin check --pin {shlex.quote(pin_file(pin))} --fast{made_on(pin, typed)}"


def made_on(pin: Pin, typed: str) -> str:
    """What stands behind a command on a pin of a simulated GPU, which is refused without it; "" of a real one. The engine is left out: no
    simulated GPU needs it, and where it lay is nobody's to read."""
    made_up = is_simulated(pin.valid_for.gpu)
    return "".join(f" {shlex.quote(word)}" for word in onward.place(typed) if made_up and word.lstrip("+").startswith("gpu"))


def pin_file(pin: Pin) -> str:
    """Its name, without a folder."""
    return f"{pin.evidence[0].removesuffix(EVIDENCE_SUFFIX)}.yaml"
