from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from backends.model import Attention
from store.verdicts.verdict import Bearing
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, known, pinned
from tuner.engines.sglang.resolver.reasons import HOPPER
from tuner.errors import UsageError
from tuner.unmeasured.regressions import load_regressions, regressions_in

HIT = {"flashinfer_python": "0.6.1"}
OLD = pinned(sglang="0.5.8", flashinfer_python="0.5.3")
(ENTRY,) = (entry for entry in load_regressions() if entry.name == "flashinfer-decode-on-hopper")


def bearing(of: Pinned, **versions: str | None) -> Bearing | None:
    return bearing_with(of, of.with_(**versions))


def bearing_with(of: Pinned, versions: Mapping[str, str]) -> Bearing | None:
    found = [issue.bearing for issue in regressions_in(of.run, of.now(versions), (ENTRY,))]
    assert len(found) < 2
    return found[0] if found else None


def test_a_release_in_the_range_on_the_path_that_is_served_is_known_bad() -> None:
    assert bearing(OLD, **HIT) is Bearing.SERVED
    assert bearing(pinned(heads=(32, 8), sglang="0.5.8", flashinfer_python="0.5.3"), **HIT) is Bearing.SERVED  # the least group, 4


@given(
    parts=st.tuples(st.just(0), st.integers(4, 7), st.integers(0, 6)),
    post=st.sampled_from(["", ".post1"]),
    local=st.sampled_from(["", "+cu130"]),
)
def test_the_range_is_that_of_versions_and_not_of_their_text(parts: tuple[int, int, int], post: str, local: str) -> None:
    version = ".".join(map(str, parts)) + post + local
    inside = Version("0.6.0") <= Version(version) and parts < (0, 6, 4)
    assert (bearing(OLD, flashinfer_python=version) is Bearing.SERVED) is inside


@given(patch=st.integers(0, 30))
def test_an_engine_that_names_the_kernels_itself_is_not_touched(patch: int) -> None:
    """10 comes after 9 here, as versions have it."""
    assert (bearing(OLD, sglang=f"0.5.{patch}", **HIT) is Bearing.SERVED) is (patch < 9)


@pytest.mark.parametrize(
    "other",
    [
        {"sm": 80},
        {"sm": 100},
        {"heads": (3, 1)},
        {"heads": (16, 16)},
        {"kv_dtype": "float8_e4m3fn"},
        {"times": {"fa3": (500.0, 100.0), "wave": (520.0, 50.0)}},
    ],
    ids=str,
)
def test_elsewhere_the_same_release_is_none_of_its_business(other: dict[str, object]) -> None:
    of = pinned(**{"sglang": "0.5.8", "flashinfer_python": "0.5.3", **other})  # type: ignore[arg-type]
    assert bearing(of, **HIT) is None


def test_latent_attention_decodes_through_another_wrapper() -> None:
    model = replace(OLD.run.scenario.model, attention=Attention.MLA)
    latent = replace(OLD, run=replace(OLD.run, scenario=replace(OLD.run.scenario, model=model)))
    assert bearing(latent, **HIT) is None


def test_an_arm_that_the_pin_was_decided_against_is_a_rival() -> None:
    assert bearing(pinned(FA3_STAYS, sglang="0.5.8", flashinfer_python="0.5.3"), **HIT) is Bearing.RIVAL


@pytest.mark.parametrize("versions", [{"sglang": None}, {"sglang": "a-fork"}, {"flashinfer_python": "a-fork"}])
def test_what_no_range_can_be_held_against_is_possible(versions: dict[str, str | None]) -> None:
    assert bearing(OLD, **{**HIT, **versions}) is Bearing.POSSIBLE


def test_a_distribution_that_is_not_there_has_no_fault() -> None:
    assert bearing(OLD, flashinfer_python=None) is None


def test_what_was_so_when_the_pin_was_made_is_no_news() -> None:
    inside = pinned(sglang="0.5.8", flashinfer_python="0.6.1")
    assert bearing(inside, flashinfer_python="0.6.3") is bearing(inside, sglang="a-fork") is None
    assert bearing(pinned(sglang="0.5.9", flashinfer_python="0.6.1"), sglang="0.5.8") is Bearing.SERVED  # a rollback of the engine alone


def test_where_no_engine_is_installed_the_calls_are_those_of_the_release_that_was_named() -> None:
    for version, expected in (("0.5.8", Bearing.SERVED), ("0.5.16", None)):
        of = pinned(sglang=version, flashinfer_python="0.5.3")
        alone = replace(of, run=replace(of.run, engine_version=None))
        assert bearing_with(alone, {name: found for name, found in alone.with_(**HIT).items() if name != "sglang"}) is expected


def test_it_says_what_changed_the_first_good_release_and_ways_out() -> None:
    [issue] = regressions_in(OLD.run, OLD.now(OLD.with_(**HIT)), (ENTRY,))
    assert (
        issue.what.startswith("flashinfer-python 0.6.1 decodes on SM90")
        and "under sglang 0.5.8; the first good release is 0.6.4" in issue.what
    )
    assert any("flashinfer-python<0.6.0" in way and ">=0.6.4" in way for way in issue.ways_out)
    assert any(source.endswith("issues/17411") for source in issue.sources)


def test_the_entry_and_the_reason_of_the_engines_rule_say_the_same() -> None:
    assert ENTRY.versions == f">={HOPPER.first_bad},<{HOPPER.first_good}" and ENTRY.first_good == HOPPER.first_good
    assert ENTRY.engine_versions == f"<{HOPPER.avoided_since}"
    assert (ENTRY.sm, ENTRY.least_group) == (HOPPER.test.sm, HOPPER.test.least_group)
    assert set(ENTRY.phases) == {phase.value for phase in HOPPER.test.phases} and ENTRY.backends == (HOPPER.test.against,)


def test_every_entry_is_of_a_distribution_that_is_looked_for_and_has_sources_and_ways_out() -> None:
    looked_for = {each.name for each in known().packages.distributions}
    for entry in load_regressions():
        assert entry.distribution in looked_for and entry.sources and entry.ways_out


def test_a_site_adds_its_own_and_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    mine = (
        "{distribution: torch, versions: '<3', first_good: null, engine: sglang, what: is slow, why: w, ways_out: [], sources: [our wiki]}"
    )
    (tmp_path / "known" / "regressions.yaml").write_text(f"ours: {mine}\nflashinfer-decode-on-hopper: {mine}\n")
    found = {entry.name: entry for entry in load_regressions(str(tmp_path))}
    assert found["ours"].distribution == found["flashinfer-decode-on-hopper"].distribution == "torch"


@pytest.mark.parametrize("key", ["versions", "engine_versions"])
def test_a_range_that_is_none_is_named(tmp_path: Path, key: str) -> None:
    (tmp_path / "known").mkdir()
    entry = {"distribution": "torch", "versions": "'<3'", "first_good": "null", "engine": "sglang", "what": "w", "why": "w"} | {
        key: "'=>3'"
    }
    rows = "".join(f"  {name}: {value}\n" for name, value in entry.items())
    (tmp_path / "known" / "regressions.yaml").write_text(f"ours:\n{rows}  ways_out: []\n  sources: []\n")
    with pytest.raises(UsageError, match="known/regressions.yaml cannot be used: Invalid specifier: '=>3'; correct that entry"):
        load_regressions(str(tmp_path))
