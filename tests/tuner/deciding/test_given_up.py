"""Arms that were measured because the user named them, and that something the scenario asks for keeps from being pinned."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import Phase
from backends.reason import Reason
from reports import run_report
from store.decision import Decision, Pair, Ruling
from store.engines.serving_terms import ServingTerms
from store.runs.run import Run
from store.scenario import Exclusion
from tests.tuner.building import ENGINE, MODEL, one_cell_each
from tuner.decide import decide
from tuner.pin import pin_of

LACKS = Reason("deterministic", "deterministic", "none", "drop the feature or choose another backend", "made up")
NAMES = ("fa3", "flashinfer", "triton", "torch_native")


def barring(run: Run, *barred: Exclusion) -> Run:
    """``run`` as if its engine or its model kept those out."""
    terms = tuple(ServingTerms(arm.name, None, 0.0, (), barred=tuple(b for b in barred if b.backend == arm.backend)) for arm in run.arms)
    return replace(run, terms=terms)


def lacking(run: Run, *backends: str, phase: Phase | None = None) -> Run:
    return barring(run, *(Exclusion(backend, phase and phase.value, (LACKS,)) for backend in backends))


def said(found: Decision) -> str:
    return " ".join((*found.cautions, found.unset_because or ""))


def test_a_faster_arm_that_lacks_a_feature_is_not_pinned_and_its_measured_gain_is_said() -> None:
    found = decide(lacking(one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0)}), "flashinfer"))
    assert (found.ruling, found.flags) == (Ruling.KEEP, ())
    assert found.unset_because and "flashinfer would make a step " in found.unset_because
    assert "but deterministic keeps flashinfer out (none)" in found.unset_because


def test_the_next_best_arm_with_the_feature_is_pinned_and_what_it_gives_up_is_said() -> None:
    found = decide(lacking(one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0), "triton": (310.0, 40.0)}), "flashinfer"))
    assert found.flags == (("attention-backend", "triton"),)
    assert "flashinfer/p1 would make a step " in found.cautions[0] and "deterministic keeps flashinfer/p1 out" in found.cautions[0]


def test_a_gain_too_small_for_a_pin_is_said_in_attention_time() -> None:
    found = decide(lacking(one_cell_each({"fa3": (30.0, 3.0), "flashinfer": (20.0, 2.0)}), "flashinfer"))
    assert found.cautions[0].startswith("deterministic keeps flashinfer/p1 out (none); given up for it: flashinfer/p1 takes 0.66")
    assert " times the attention time of fa3/p1, a step " in found.cautions[0]


def test_where_the_arm_that_is_kept_out_is_slower_nothing_is_said_to_be_lost() -> None:
    found = decide(lacking(one_cell_each({"fa3": (554.0, 98.0), "triton": (900.0, 130.0)}), "triton"))
    assert "nothing is surely given up for it: " in found.cautions[0]


def test_one_process_knows_no_price() -> None:
    found = decide(lacking(one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0)}, processes=1), "flashinfer"))
    assert found.cautions[0].endswith("what flashinfer/p1 would win is not known from one process")


def test_an_arm_may_be_kept_out_of_one_phase_alone() -> None:
    run = one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0)})
    found = decide(lacking(run, "flashinfer", phase=Phase.PREFILL))
    assert found.flags == (("prefill-attention-backend", "fa3"), ("decode-attention-backend", "flashinfer"))


def test_without_such_arms_nothing_is_said_of_them() -> None:
    assert "keeps" not in said(decide(one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0)})))


@pytest.mark.parametrize("times", [{"triton": (1.10, 1.10), "fa3": (1.00, 1.00)}])
def test_a_required_backend_keeps_its_pin_against_a_faster_one(times: dict[str, tuple[float, float]]) -> None:
    """d11-2: the model requires triton, and fa3 takes 1.00 where it takes 1.10."""
    why = Reason("required_backend", "model.required_backend=triton", "triton, which the model cannot do without", "-", "-")
    us = {backend: (5000 * prefill, 1000 * decode) for backend, (prefill, decode) in times.items()}
    engine, model = replace(ENGINE, attention_backend="triton"), replace(MODEL, required_backend="triton")
    run = barring(one_cell_each(us, default=("triton", "triton"), engine=engine, model=model), Exclusion("fa3", None, (why,)))
    found = decide(run)
    assert found.flags == (("attention-backend", "triton"),)
    assert dict(found.because)["attention-backend"].endswith("; the model's requirement, kept")
    sentence = "fa3 would make a step "
    assert found.unset_because and sentence in found.unset_because and "model.required_backend=triton keeps fa3 out" in found.unset_because
    text = run_report.render_text(replace(run, decision=found))
    assert "keep --attention-backend triton, as the model requires" in text and "ratio 0.9" in text
    assert dict(pin_of(run, found, ("", "")).valid_for.settings)["model.required_backend"] == "triton"


def test_a_pair_that_the_engine_would_refuse_is_not_pinned() -> None:
    run = one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (300.0, 35.0)}, model=replace(MODEL, architecture="Olmo2ForCausalLM"))
    found = decide(run)
    assert found.pick != Pair("flashinfer/p1", "flashinfer/p1")
    assert any("SGLang 0.5.16 would not start with it: Olmo 2 does not take flashinfer" in str(score.barred) for score in found.scores)


@st.composite
def recorded_runs(draw: st.DrawFn) -> Run:
    """A run of two to four arms at any speeds, some of the default's rivals kept out in one phase or both."""
    names = draw(st.permutations(NAMES[1:]))[: draw(st.integers(1, 3))]
    times = {name: (draw(st.floats(100, 900)), draw(st.floats(20, 200))) for name in ("fa3", *names)}
    barred = {name: draw(st.sampled_from((None, Phase.PREFILL, Phase.DECODE))) for name in names if draw(st.booleans())}
    run = one_cell_each(times, processes=draw(st.integers(1, 4)), seed=draw(st.integers(0, 9)))
    return barring(run, *(Exclusion(name, phase and phase.value, (LACKS,)) for name, phase in barred.items()))


@given(recorded_runs())
@settings(max_examples=60)
def test_a_pinned_arm_never_lacks_a_named_feature(run: Run) -> None:
    found = decide(run)
    pick = found.pick or Pair("", "")
    for phase in Phase:
        terms = run.terms_of(pick.of(phase))
        assert terms is None or all(one.phase not in (None, phase.value) for one in terms.barred)


@given(recorded_runs())
@settings(max_examples=60)
def test_a_faster_pair_that_is_kept_out_is_always_told_of_with_a_number(run: Run) -> None:
    found = decide(run)
    kept = {score.pair for score in found.scores if score.barred and " out (none)" in score.barred}
    fastest = min(found.scores, key=lambda score: score.objective_ms)
    if fastest.pair in kept and fastest.ratio is not None:
        assert any(f"{name} " in said(found) for name in (fastest.pair.decode, fastest.pair.decode.partition("/")[0]))
        assert "would make a step " in said(found) or "given up for it: " in said(found)
