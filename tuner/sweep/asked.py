"""A sweep as it is asked for: its scenarios looked at before the first one is begun, where each pin goes, who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reports.sweep import names
from store.sweeps.sweep import Ending
from tuner.command_line.boundary import exit_code, sentence
from tuner.errors import UsageError
from tuner.executors.executor import Task
from tuner.executors.lookup import RAY, executor_of
from tuner.executors.ray_driver import outlasting_heads
from tuner.settings import Settings, pin_override
from tuner.sweep.looking import looked_at
from tuner.sweep.places import folder_of, placed
from tuner.sweep.sweep import Scenario, run_sweep
from tuner.sweep.wishes import Wish, shown_as, wishes

# Of how a sweep is run, not of what is asked: with others of these the same scenarios go on.
OF_THE_COMMAND = ("fresh", "json", "explain", "wait_for_gpu", "ask_limit", "measure.budget_s")
OF_THE_PLACE = "executor."


def run_asked(overrides: Sequence[str], config_dir: str | None, debug: bool) -> int:
    """The gravest exit code of all scenarios. Raises `UsageError` where nothing can be begun."""
    found = wishes(overrides)
    looked = looked_at(found, config_dir)
    good = [each for each in looked if isinstance(each, Settings)]
    if not good:
        raise next(each for each in looked if isinstance(each, Exception))
    _refuse_several_executors(good)
    shown = list(map(shown_as, found))
    paths = iter(placed([each.pin_path for each in good], [wish for wish, each in zip(shown, looked) if isinstance(each, Settings)]))
    scenarios, kept = [], []
    for number, (wish, each, name) in enumerate(zip(found, looked, names(shown)), 1):
        if isinstance(each, Settings):
            kept.append(path := next(paths))
            task = Task(number, name, _with_pin(wish, each.pin_path, path), config_dir)
            scenarios.append(Scenario(_known_by(wish), task))
        else:
            scenarios.append(Scenario(_known_by(wish), None, Ending(exit_code(each), sentence(each))))
    folder = folder_of(kept)
    place, fresh = good[0].executor, good[0].fresh

    def work(again: bool) -> int:
        return run_sweep(scenarios, executor_of(good[0], again), folder, fresh and not again, good[0].json)

    return outlasting_heads(work, place.address, debug) if place.kind == RAY else work(False)


def _known_by(wish: Wish) -> Wish:
    keys = [(word, word.partition("=")[0]) for word in shown_as(wish)]
    return tuple(word for word, key in keys if key not in OF_THE_COMMAND and not f"{key}.".startswith(OF_THE_PLACE))


def _with_pin(wish: Wish, own: Path, path: Path) -> tuple[str, ...]:
    return wish if path == own else (*wish, pin_override(str(path)))


def _refuse_several_executors(settings: Sequence[Settings]) -> None:
    places = {repr(replace(each.executor, device=None)) for each in settings}
    if len(places) > 1:
        raise UsageError("the scenarios of one sweep run by one executor; give executor and executor.* one value each")
