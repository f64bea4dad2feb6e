"""Asking and telling: no setting twice, what is surely worse given up, what broke off tried again."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import optuna
import pytest

from backends.arm import Arm, Provider
from backends.cell import Phase
from store.database.connect import Store, open_store
from store.runs.studies import Studies, belongs_to, studies_of
from store.search import Fate, Search, SearchKind, Setting
from tuner.search.study import PhaseStudy

KNOBS = {"splits": ("4", "8", "16"), "static": ("true",)}
BEST = "triton/p1,splits=16"


def setting(backend: str, **chosen: str) -> Setting:
    arm = Arm(backend, Provider.ENGINE, "a:B", 1, "bfloat16", (), tuple(sorted(chosen.items())))
    return Setting(f"{backend}/p1", arm, tuple(chosen.items()), tuple(Phase) if not chosen else (Phase.DECODE,))


SETTINGS = (
    setting("fa3"),
    *(setting("triton", **({"splits": splits} if splits else {}), **({"static": static} if static else {}))
      for splits in ("", *KNOBS["splits"]) for static in ("", *KNOBS["static"])),
)  # fmt: skip


def search(kind: SearchKind = SearchKind.EXHAUSTIVE, trials: int = 32) -> Search:
    return Search(kind, trials, steps=8, finalists=2, p_threshold=0.1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.db")


def ratio_of(arm: str) -> float:
    return 0.8 if arm == BEST else 1.2 if arm.startswith("triton") else 1.0


def run_out(study: PhaseStudy, most: int = 100, seed: int = 0) -> list[str]:
    """Try what it asks for, at most so many; the arms in order."""
    rng, asked = random.Random(seed), list[str]()
    while len(asked) < most and (attempt := study.next()) is not None:
        name = attempt.setting.arm.name
        asked.append(name)
        values = [ratio_of(name) + rng.gauss(0, 0.005) for _ in range(8)]
        for step, value in enumerate(values):
            if study.report(attempt, step, value):
                study.end(attempt, Fate.PRUNED, value, 1.0)
                break
        else:
            study.end(attempt, Fate.FINISHED, sum(values) / 8, 2.0)
    return asked


def opened(studies: Studies, kind: SearchKind = SearchKind.EXHAUSTIVE, trials: int = 32, fresh: bool = False) -> PhaseStudy:
    study = PhaseStudy(studies, "digest", fresh, Phase.DECODE, SETTINGS, search(kind, trials), 0)
    study.begin("fa3/p1")
    return study


@pytest.mark.parametrize("kind", SearchKind)
def test_no_setting_is_measured_twice_and_the_default_not_at_all(store: Store, kind: SearchKind) -> None:
    with studies_of(store) as studies:
        asked = run_out(opened(studies, kind))
    assert Counter(asked) == Counter(each.arm.name for each in SETTINGS if each.arm.backend != "fa3")


def test_a_sampler_s_wishes_end_where_as_many_as_were_allowed_are_tried(store: Store) -> None:
    with studies_of(store) as studies:
        study = opened(studies, SearchKind.OPTUNA, trials=3)
        assert len(run_out(study)) == 3 == len(study.tried()) - 1


def test_what_is_surely_slower_than_the_default_or_the_best_is_pruned_before_its_last_repetition(store: Store) -> None:
    with studies_of(store) as studies:
        study = opened(studies)
        run_out(study)
        tried = {each.arm: each for each in study.tried()}
    assert tried[BEST].fate is Fate.FINISHED and tried[BEST].steps == 8
    slow = [each for name, each in tried.items() if name.startswith("triton") and name != BEST]
    assert slow and all(each.fate is Fate.PRUNED and 4 <= each.steps < 8 for each in slow)
    assert study.tried()[0].arm == BEST


def test_a_search_that_was_interrupted_goes_on_with_the_rest_and_tries_again_what_broke_off(store: Store) -> None:
    with studies_of(store) as studies:
        study = opened(studies)
        first = run_out(study, most=2)
        broken = study.next()
        assert broken is not None
        study.report(broken, 0, 1.0)
        study.study.enqueue_trial(dict(broken.trial.params))
    with studies_of(store) as studies:
        again = opened(studies)
        rest = run_out(again)
        assert again.study.study_name == study.study.study_name
    assert broken.setting.arm.name in rest and not set(first) & set(rest)
    assert len(first) + len(rest) == len(SETTINGS) - 1


def test_one_that_failed_is_not_tried_again_and_says_why(store: Store) -> None:
    with studies_of(store) as studies:
        study = opened(studies)
        attempt = study.next()
        assert attempt is not None
        study.end(attempt, Fate.FAILED, None, 0.5, "refused: no such path")
        assert attempt.setting.arm.name not in run_out(study)
        failed = study.tried()[-1]
    assert (failed.arm, failed.fate, failed.detail, failed.ratio) == (attempt.setting.arm.name, Fate.FAILED, "refused: no such path", None)


def test_a_study_that_a_run_was_begun_with_is_nobody_else_s(store: Store) -> None:
    with studies_of(store) as studies:
        study = opened(studies)
        run_out(study)
        belongs_to(study.study, "a run")
        assert opened(studies).study.study_name != study.study.study_name
        begun = opened(studies)
        assert opened(studies).study.study_name == begun.study.study_name != opened(studies, fresh=True).study.study_name


def test_the_studies_lie_in_the_store_beside_its_runs(store: Store) -> None:
    with studies_of(store) as studies:
        run_out(opened(studies), most=1)
    names = optuna.get_all_study_names(store.engine.url.render_as_string(hide_password=False))
    assert names == ["digest/decode/1"]
