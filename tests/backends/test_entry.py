from __future__ import annotations

from typing import Any

import pytest

from backends.allowed import Span
from backends.arm import Provider
from backends.capability import InnerPath, KnownDeviation, Note
from backends.deviation import Step
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.serving_jit import Builds, ServingJit

DEVIATES = {"says": "errs", "steps": ["decode"], "keys": -1}
LIMIT = {"rule": "head_dim", "allowed": [64, "96..128"], "source": "made up"}
JIT = {"builds": "per shape", "why": "one a length", "source": "made up"}
DRIVER = {"provider": "kernel", "driver": "m:C", "packages": ["torch"], "devices": ["cpu"], "tools": ["c++"], "limits": [LIMIT]}


def test_an_entry_is_read_whole() -> None:
    entry = entry_from({"name": "mine", "limits": [LIMIT], "modules": ["m"], "drivers": [DRIVER], "aliases": ["old"], "graph": False})
    assert (entry.name, entry.aliases, entry.graph, entry.capability.modules) == ("mine", ("old",), False, ("m",))
    assert entry.capability.limits[0].allowed == (64, Span("96", "128"))
    assert (entry.drivers[0].provider, entry.drivers[0].tools, entry.drivers[0].attention) == (Provider.KERNEL, ("c++",), ("mha",))
    assert entry.drivers[0].limits == entry.capability.limits


def test_when_a_backend_builds_kernels_is_read_and_may_be_unknown() -> None:
    assert entry_from({"name": "mine", "jit_while_serving": JIT}).jit == ServingJit(Builds.PER_SHAPE, "one a length", "made up")
    assert entry_from({"name": "mine"}).jit is None
    assert [kind for kind in Builds if ServingJit(kind, "why", "source").stalls_requests] == [Builds.PER_SHAPE]


def test_source_and_versions_of_the_entry_stand_for_limits_without_their_own() -> None:
    limits = [{"rule": "sinks"}, {"rule": "group", "source": "there", "versions": ["0.5.16"]}]
    entry = entry_from({"name": "mine", "source": "here", "versions": ["0.5.22"], "limits": limits})
    assert [(limit.source, limit.versions) for limit in entry.capability.limits] == [("here", ("0.5.22",)), ("there", ("0.5.16",))]
    assert entry.capability.versions == ("0.5.22",)


def test_versions_may_be_spans_of_the_rule_sets() -> None:
    entry = entry_from(
        {"name": "mine", "source": "here", "limits": [{"rule": "sinks", "versions": ["0.5.22.."]}], "versions": ["..0.5.22"]}
    )
    assert entry.capability.versions == ("0.5.16", "0.5.22")
    assert entry.capability.limits[0].versions == ("0.5.22", "0.5.23")


def test_paths_notes_and_history_are_read() -> None:
    paths = [{"name": "fa2", "when": {"phase": ["decode"]}}]
    notes = [{"says": "copies", "source": "there", "versions": ["0.5.16"]}]
    entry = entry_from({"name": "mine", "source": "here", "paths": paths, "notes": notes, "history": "gone"}).capability
    assert entry.paths == (InnerPath("fa2", "here", when=(("phase", ("decode",)),)),)
    assert entry.notes == (Note("copies", "there", ("0.5.16",)),)
    assert entry.history == "gone"


@pytest.mark.parametrize(("written", "keys"), [(-1, -1), ("all", None)])
def test_a_deviation_is_read(written: int | str, keys: int | None) -> None:
    item = {**DEVIATES, "keys": written, "versions": ["..0.5.16"], "unless": {"deterministic": ["wanted"]}}
    [found] = entry_from({"name": "mine", "source": "here", "deviations": [item]}).capability.deviations
    assert found == KnownDeviation("errs", "here", (Step.DECODE,), keys, ("0.5.16",), (), (("deterministic", ("wanted",)),))


def test_a_deviation_of_sums_needs_no_keys() -> None:
    item = {"says": "errs", "steps": ["decode"], "narrow_sums": True}
    [found] = entry_from({"name": "mine", "source": "here", "deviations": [item]}).capability.deviations
    assert found.narrow_sums and found.keys == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"limits": []}, "a backend entry needs 'name'"),
        ({"name": "mine", "limit": []}, "backend mine: key 'limit' is unknown; write one of name, source"),
        ({"name": "mine", "limits": [{"rule": "headdim"}]}, "rule 'headdim' is unknown; write one of arch, architecture"),
        ({"name": "mine", "limits": [{"rule": "sinks"}]}, "backend mine, limit sinks needs 'source'"),
        ({"name": "mine", "limits": [{**LIMIT, "allowed": 64}]}, "allowed is 64; write a list"),
        ({"name": "mine", "limits": [{**LIMIT, "allowed": [0.5]}]}, "0.5 is neither a whole number nor a word; put it in quotes"),
        ({"name": "mine", "limits": [{**LIMIT, "when": {"phases": ["decode"]}}]}, "rule 'phases' is unknown"),
        ({"name": "mine", "limits": [{**LIMIT, "when": {"phase": "decode"}}]}, "expected a list of values, got 'decode'"),
        ({"name": "mine", "drivers": [{**DRIVER, "provider": "libary"}]}, "provider 'libary' is unknown; write engine or kernel"),
        ({"name": "mine", "drivers": [{"provider": "kernel"}]}, "backend mine, driver needs 'driver'"),
        (
            {"name": "mine", "jit_while_serving": True},
            "backend mine, jit_while_serving is True; write {builds: ..., why: ..., source: ...}",
        ),
        ({"name": "mine", "jit_while_serving": {**JIT, "builds": "often"}}, "'often' is unknown; write one of never, first use, per shape"),
        ({"name": "mine", "jit_while_serving": {"builds": "never", "why": "w"}}, "jit_while_serving needs 'source'"),
        ({"name": "mine", "jit_while_serving": {**JIT, "may": True}}, "key 'may' is unknown; write one of builds, why, source"),
        ({"name": "mine", "modules": "torch"}, "modules is 'torch'; write a list"),
        (
            {"name": "mine", "versions": ["0.5.17"]},
            "backend mine: versions names no rule set; write some of 0.5.16, 0.5.22, 0.5.23, or a span",
        ),
        ({"name": "mine", "source": "s", "paths": [{"when": {}}]}, "backend mine, a path needs 'name'"),
        ({"name": "mine", "paths": [{"name": "fa2"}]}, "backend mine, path fa2 needs 'source'"),
        ({"name": "mine", "source": "s", "notes": [{"text": "x"}]}, "backend mine, a note needs 'says'"),
        ({"name": "mine", "source": "s", "deviations": [{"steps": ["decode"]}]}, "backend mine, a deviation needs 'says'"),
        ({"name": "mine", "deviations": [DEVIATES]}, "backend mine, a deviation needs 'source'"),
        (
            {"name": "mine", "source": "s", "deviations": [{**DEVIATES, "steps": ["prefill"]}]},
            "steps are prefill; write some of [decode, verify, fresh prefill, prefill on a prefix]",
        ),
        ({"name": "mine", "source": "s", "deviations": [{**DEVIATES, "steps": []}]}, "steps are missing; write some of [decode"),
        ({"name": "mine", "source": "s", "deviations": [{**DEVIATES, "keys": 0}]}, "keys is 0; write how many more than its window"),
        ({"name": "mine", "source": "s", "deviations": [{**DEVIATES, "keys": "none"}]}, "keys is 'none'; write how many"),
        (
            {"name": "mine", "source": "s", "deviations": [{**DEVIATES, "narrow_sums": True}]},
            "keys is -1 beside narrow_sums; write one of them",
        ),
        ({"name": "mine", "source": "s", "deviations": [{**DEVIATES, "narrow_sums": "yes"}]}, "narrow_sums is 'yes'; write true"),
        ({"name": "mine", "source": "s", "deviations": [{**DEVIATES, "why": "y"}]}, "a deviation: key 'why' is unknown; write one of says"),
        ({"name": "mine", "source": "s", "notes": [{"says": "x", "why": "y"}]}, "a note: key 'why' is unknown; write one of says, source"),
    ],
)
def test_a_mistake_is_named_with_what_may_stand_there(data: dict[str, Any], said: str) -> None:
    with pytest.raises(EntryError) as error:
        entry_from(data)
    assert said in str(error.value)
