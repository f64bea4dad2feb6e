from __future__ import annotations

from pathlib import Path

import pytest

from backends.worker.variables import SGLANG, kernel_variables
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import known
from tuner.composing import names
from tuner.doctor.known import KernelDistribution, load_known
from tuner.errors import UsageError


def test_every_entry_speaks_of_a_distribution_that_is_looked_for_and_has_a_source() -> None:
    looked_for = {each.name for each in known().distributions}
    entries = (*known().releases, *known().torch_builds, *known().prebuilt)
    assert {entry.distribution for entry in entries} <= looked_for
    assert all(entry.source for entry in (*entries, *known().variables))


def test_every_variable_of_sglang_that_enters_the_key_has_an_effect() -> None:
    assert SGLANG - {effect.name for effect in known().variables} == set()


def test_every_variable_with_an_effect_enters_the_key() -> None:
    environ = {effect.name: "1" for effect in known().variables}
    assert {name for name, _ in kernel_variables(environ, "cuda")} == set(environ)


def test_facts_are_no_group_to_choose_from() -> None:
    assert "known" not in names.groups() and "gpu" in names.groups()


def test_a_site_adds_entries_and_replaces_those_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "distributions.yaml").write_text("flash-attn: {imports: [flash_attn]}\nour-kernels: {imports: [ours]}\n")
    (tmp_path / "known" / "releases.yaml").write_text(
        "- {distribution: our-kernels, versions: '<2', what: slow, instead: '2', source: our wiki}\n"
    )
    (tmp_path / "known" / "variables.yaml").write_text("OUR_SWITCH: {severity: warning, effect: does it, source: our wiki}\n")
    ours = load_known(str(tmp_path))
    by_name = {each.name: each for each in ours.distributions}
    assert by_name["flash-attn"] == KernelDistribution("flash-attn", ("flash_attn",)) and by_name["our-kernels"].imports == ("ours",)
    assert len(ours.distributions) == len(known().distributions) + 1
    assert [each.distribution for each in ours.releases[:1]] == ["our-kernels"] and len(ours.releases) == len(known().releases) + 1
    assert ours.variables[0].severity is Severity.WARNING


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("releases.yaml", "- {distribution: x}\n", "known/releases.yaml cannot be used: TakenBack lacks"),
        ("releases.yaml", "- {distribution: x, versions: =>1, what: a, instead: b, source: c}\n", "Invalid specifier: '=>1'"),
        ("torch_builds.yaml", "- {distribution: x, versions: ==1, torch: two, source: c}\n", "Invalid specifier: 'two'"),
        ("variables.yaml", "X: {severity: bad, effect: y}\n", "'bad' is no Severity; it is one of 'fault', 'warning', 'note'"),
        ("variables.yaml", "X: 1\n", "known/variables.yaml cannot be used"),
        ("prebuilt.yaml", "- [\n", "known/prebuilt.yaml cannot be used: while parsing"),
        ("distributions.yaml", "3\n", "known/distributions.yaml cannot be used"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / file).write_text(text)
    with pytest.raises(UsageError) as error:
        load_known(str(tmp_path))
    assert said in str(error.value) and str(error.value).endswith("; correct that entry")
