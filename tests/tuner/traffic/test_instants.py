from __future__ import annotations

import pytest

from tuner.traffic.instants import DATE, RELATIVE, instant

AT = 1700000000.25


@pytest.mark.parametrize(
    "value",
    [
        AT,
        str(AT),
        AT * 1e3,
        int(AT * 1e6),
        int(AT * 1e9),
        "2023-11-14 22:13:20.2500000",
        "2023-11-14T23:13:20.25+01:00",
        "2023-11-14T22:13:20.25Z",
    ],
)
def test_an_instant_is_the_same_in_every_unit(value: object) -> None:
    found = instant(value)
    assert found is not None and found[1] == pytest.approx(AT, abs=1e-3)


def test_each_unit_is_a_kind_of_its_own() -> None:
    kinds = [found[0] for value in (AT, AT * 1e3, AT * 1e6, AT * 1e9, "2023-11-14", 12) if (found := instant(value))]
    assert len(set(kinds)) == 6 and kinds[-2:] == [DATE, RELATIVE]


def test_a_time_from_a_start_is_in_the_unit_that_was_said() -> None:
    assert instant(1500, 1e-3) == (RELATIVE, 1.5) and instant(10**9, 1e-3) == (RELATIVE, 1e6)


@pytest.mark.parametrize("value", [None, True, "soon", float("nan"), float("inf"), [], {}])
def test_what_is_no_time_is_none(value: object) -> None:
    assert instant(value) is None
