from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.cell import Phase
from store.decision import Pair
from store.engines.recorded_reason import Expected
from store.verdicts.audit import DefaultVerdict, ReasonVerdict
from tests.tuner.auditing.reasons import RULE, here
from tests.tuner.building import DECIDE
from tuner.auditing import reported
from tuner.auditing.figures import METRICS, Figure, read_figures
from tuner.auditing.recorded import merged
from tuner.errors import UsageError

GOOD = """\
scenario: [model=qwen3_8b, gpu=h20]
source: [https://example.org/1]
packages: {flashinfer: 0.6.12}
figures:
  - {backend: fa3, phase: decode, metric: time_ms, value: 0.098, input: 3500}
"""
FA3, BOTH = Pair("fa3", "fa3"), (Phase.PREFILL, Phase.DECODE)


def figure(backend: str, value: float, phase: Phase | None = Phase.DECODE, metric: str = "time_us", **labels: str) -> Figure:
    return Figure(backend, phase, METRICS[metric], value, tuple(labels.items()))


def read(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "figures.yaml"
    file.write_text(text)
    return read_figures(file)


def test_a_file_of_figures_is_read_with_its_units(tmp_path: Path) -> None:
    figures = read(tmp_path, GOOD)
    (only,) = figures.figures
    assert (only.value, only.metric.unit, only.phase, only.labels) == (pytest.approx(98.0), "us", Phase.DECODE, (("input", "3500"),))
    assert (figures.scenario, figures.packages) == (("model=qwen3_8b", "gpu=h20"), (("flashinfer", "0.6.12"),))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (GOOD, "[1, 2", r"figures.yaml is not YAML: while parsing a flow sequence .*"),
        (GOOD, "just words", r"figures.yaml holds no figures; it needs the keys scenario, source, figures"),
        ("packages", "package", r"figures.yaml has the key 'package'; did you mean packages\?"),
        ("source: [https://example.org/1]\n", "", r"figures.yaml says nothing under source; it needs the keys scenario, source, figures"),
        ("[model=qwen3_8b, gpu=h20]", "gpu=h20", r"figures.yaml: scenario is 'gpu=h20'; give a list of words"),
        ("{flashinfer: 0.6.12}", "[0.6.12]", r"figures.yaml: packages is \['0.6.12'\]; give import names with versions, .*"),
        (GOOD[GOOD.index("\n  -") :], " 98\n", r"figures.yaml: figures is 98; give a list of them"),
        ("backend: fa3, ", "", r"figures.yaml, figure 1 is \{'phase': .*\}; give backend, metric and value, and phase where .*"),
        ("time_ms", "time_s", r"figures.yaml, figure 1 has metric 'time_s'; did you mean .*time_us.*\?"),
        ("decode", "decoding", r"figures.yaml, figure 1 has phase 'decoding'; did you mean decode\?"),
        ("0.098", "0", r"figures.yaml, figure 1 has value 0; give a number from 1e-09 to 1e\+15"),
        ("0.098", ".inf", r"figures.yaml, figure 1 has value inf; give a number from .*"),
        ("0.098", ".nan", r"figures.yaml, figure 1 has value nan; give a number from .*"),
        ("0.098", "yes", r"figures.yaml, figure 1 has value .*; give a number from .*"),
        ("0.098", "1e-308", r"figures.yaml, figure 1 has value 1e-308; give a number from .*"),
        ("0.098", "1" + 400 * "0", r"figures.yaml, figure 1 has value 1(0{400}); give a number from .*"),
        ("0.098", 5000 * "9", r"figures.yaml is not YAML: .*"),
        (GOOD, 1000 * "[", r"figures.yaml is not YAML: .*"),
        (", gpu=h20", "", r"figures.yaml: scenario names no gpu; say of which one the figures are, such as gpu=h20"),
        ("0.6.12", "0.10", r"figures.yaml: packages gives flashinfer the version 0.1; write it in quotes"),
        ("0.6.12", "", r"figures.yaml: packages gives flashinfer the version None; write it in quotes"),
        (GOOD, GOOD + GOOD[GOOD.index("  -") :], r"figures.yaml, figure 2 is the second of fa3 for one case; .*"),
    ],
)
def test_a_file_that_is_something_else_is_refused_with_what_to_write(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError, match=f"^{said}$"):
        read(tmp_path, GOOD.replace(old, new))


def test_only_figures_of_one_case_are_compared() -> None:
    apart = (figure("fa3", 98, input="3500"), figure("flashinfer", 35, input="12000"), figure("flashinfer", 35, metric="relative_time"))
    assert reported.relations(apart, "fa3", "flashinfer") == ()
    (relation,) = reported.relations((*apart, figure("flashinfer", 35, input="3500")), "fa3", "flashinfer")
    assert (relation.ratio, relation.where) == (pytest.approx(35 / 98), "in decode (input 3500)")


def test_a_rate_is_the_better_the_higher_it_is() -> None:
    rates = (figure("fa3", 908, None, "tokens_per_s"), figure("flashinfer", 2014, None, "tokens_per_s"))
    (relation,) = reported.relations(rates, "fa3", "flashinfer")
    assert (relation.ratio, relation.where, relation.phase) == (pytest.approx(908 / 2014), "of the whole server", None)


def test_figures_say_nothing_of_answers_nor_of_phases_they_are_not_of() -> None:
    figures = (figure("fa3", 98, Phase.PREFILL), figure("flashinfer", 35, Phase.PREFILL))
    found = reported.judged(figures, RULE, here(), BOTH, DECIDE)
    assert (found.verdict, found.says) == (
        ReasonVerdict.UNTESTABLE,
        "there are no two figures of flashinfer and fa3 for one case of decode",
    )
    answers = reported.judged(figures, RULE, here(expected=Expected.WRONG), BOTH, DECIDE)
    assert (answers.verdict, answers.says) == (ReasonVerdict.UNTESTABLE, "figures say nothing of whether answers are right")


def judged(*figures: Figure, known: tuple[str, ...] = ("fa3", "flashinfer", "triton")) -> tuple[DefaultVerdict, Pair | None]:
    found = reported.default_of(figures, FA3, BOTH, known, DECIDE)
    return found.verdict, found.use


def test_the_default_gives_way_to_what_was_faster_by_more_than_single_figures_may_err() -> None:
    assert judged(figure("fa3", 98), figure("flashinfer", 35)) == (DefaultVerdict.SLOWER, Pair("fa3", "flashinfer"))
    assert judged(figure("fa3", 98), figure("flashinfer", 95)) == (DefaultVerdict.INCONCLUSIVE, None)
    assert judged(figure("fa3", 98), figure("flashinfer", 99)) == (DefaultVerdict.KEEP, None)
    assert judged(figure("fa3", 98)) == (DefaultVerdict.UNTESTED, None)


def test_of_several_faster_backends_the_fastest_is_used_and_a_kernel_that_is_no_backend_is_not() -> None:
    three = (figure("fa3", 98), figure("flashinfer", 50), figure("triton", 40), figure("fa3-small-tile", 9))
    assert judged(*three) == (DefaultVerdict.SLOWER, Pair("fa3", "triton"))


def test_a_backend_must_be_faster_in_every_case_of_a_phase() -> None:
    cases = [
        figure(name, us, context=context)
        for context, row in (("1k", (98, 35)), ("9k", (98, 120)))
        for name, us in zip(("fa3", "flashinfer"), row)
    ]
    assert judged(*cases) == (DefaultVerdict.INCONCLUSIVE, None)


def test_figures_of_a_whole_server_stand_for_a_phase_that_has_none_of_its_own() -> None:
    server = (figure("fa3", 908, None, "tokens_per_s"), figure("flashinfer", 2014, None, "tokens_per_s"))
    assert judged(*server) == (DefaultVerdict.SLOWER, Pair("flashinfer", "flashinfer"))
    prefill = (figure("fa3", 554, Phase.PREFILL), figure("flashinfer", 722, Phase.PREFILL))
    assert judged(*server, *prefill) == (DefaultVerdict.SLOWER, Pair("fa3", "flashinfer"))


def test_an_override_takes_the_place_of_the_files_own() -> None:
    assert merged(["model=a", "gpu=h20"], ["gpu=h200", "decide.min_gain=0"]) == ["model=a", "gpu=h200", "decide.min_gain=0"]
