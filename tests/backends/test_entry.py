from __future__ import annotations

from typing import Any

import pytest

from backends.arm import Provider
from backends.entry import EntryError, entry_from
from backends.limits import Span

LIMIT = {"rule": "head_dim", "allowed": [64, "96..128"], "source": "made up"}
DRIVER = {"provider": "kernel", "driver": "m:C", "packages": ["torch"], "devices": ["cpu"], "tools": ["c++"]}


def test_an_entry_is_read_whole() -> None:
    entry = entry_from({"name": "mine", "limits": [LIMIT], "modules": ["m"], "drivers": [DRIVER], "aliases": ["old"], "graph": False})
    assert (entry.name, entry.aliases, entry.graph, entry.capability.modules) == ("mine", ("old",), False, ("m",))
    assert entry.capability.limits[0].allowed == (64, Span("96", "128"))
    assert (entry.drivers[0].provider, entry.drivers[0].tools, entry.drivers[0].attention) == (Provider.KERNEL, ("c++",), ("mha",))


def test_source_and_versions_of_the_entry_stand_for_limits_without_their_own() -> None:
    limits = [{"rule": "sinks"}, {"rule": "group", "source": "there", "versions": ["0.5.16"]}]
    entry = entry_from({"name": "mine", "source": "here", "versions": ["0.5.22"], "limits": limits})
    assert [(limit.source, limit.versions) for limit in entry.capability.limits] == [("here", ("0.5.22",)), ("there", ("0.5.16",))]
    assert entry.capability.versions == ("0.5.22",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"limits": []}, "a backend entry needs 'name'"),
        ({"name": "mine", "limit": []}, "backend mine: key 'limit' is unknown; write one of name, source"),
        ({"name": "mine", "limits": [{"rule": "headdim"}]}, "rule 'headdim' is unknown; write one of architecture"),
        ({"name": "mine", "limits": [{"rule": "sinks"}]}, "backend mine, limit sinks needs 'source'"),
        ({"name": "mine", "limits": [{**LIMIT, "allowed": 64}]}, "allowed is 64; write a list"),
        ({"name": "mine", "limits": [{**LIMIT, "allowed": [0.5]}]}, "0.5 is neither a whole number nor a word; put it in quotes"),
        ({"name": "mine", "limits": [{**LIMIT, "when": {"phases": ["decode"]}}]}, "rule 'phases' is unknown"),
        ({"name": "mine", "limits": [{**LIMIT, "when": {"phase": "decode"}}]}, "expected a list of values, got 'decode'"),
        ({"name": "mine", "drivers": [{**DRIVER, "provider": "libary"}]}, "provider 'libary' is unknown; write engine or kernel"),
        ({"name": "mine", "drivers": [{"provider": "kernel"}]}, "backend mine, driver needs 'driver'"),
        ({"name": "mine", "modules": "torch"}, "modules is 'torch'; write a list"),
    ],
)
def test_a_mistake_is_named_with_what_may_stand_there(data: dict[str, Any], said: str) -> None:
    with pytest.raises(EntryError) as error:
        entry_from(data)
    assert said in str(error.value)
