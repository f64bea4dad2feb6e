"""Before and while measuring: what would be done, the job itself, a recorded one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Overrides, settings_of
from tuner.errors import UsageError

if TYPE_CHECKING:
    from tuner.settings import Settings


def plan(
    overrides: Overrides = None,
    json: Json = False,
    config_dir: ConfigDir = None,
    tree: Annotated[bool, typer.Option("--tree", help="the engine's default tree alone, and this scenario's way through it")] = False,
    multirun: Annotated[
        bool, typer.Option("--multirun", "-m", help="what the sweep of these overrides would cost; scenarios=FILE too")
    ] = False,
) -> None:
    """What the engine would pick, what may run and what may not and why, what a run would cost; of many scenarios (scenarios=FILE,
    --multirun) what they would cost together. Needs no GPU."""
    if multirun or any(each.startswith("scenarios=") for each in overrides or ()):
        if tree:
            raise UsageError("--tree draws the way of one scenario; leave out --multirun and scenarios=FILE")
        sys.stdout.write(_sweep(overrides or [], json, config_dir))
        return
    if tree:
        sys.stdout.write(_tree(settings_of(overrides, config_dir), json))
        return
    from reports.plan import render_json, render_text
    from tuner.plan import make_plan
    from tuner.planning.consult import consulted_for_plan
    from tuner.planning.elsewhere import measured_elsewhere

    settings, consulted = consulted_for_plan(settings_of(overrides, config_dir))
    made = make_plan(settings, consulted=consulted)
    made = replace(made, notes=(*made.notes, *measured_elsewhere(settings.scenario, settings.store_url)))
    sys.stdout.write(render_json(made) if json else render_text(made))


def _sweep(overrides: list[str], json: bool, config_dir: str | None) -> str:
    from reports.sweep_cost import render_json, render_text
    from tuner.sweep.cost import sweep_cost

    return (render_json if json else render_text)(sweep_cost(overrides, config_dir))


def tune(context: typer.Context) -> int:
    """The whole job: measure, decide, write the pin. A Hydra application: --cfg job, --info, --multirun, --help."""
    from tuner.command_line import hydra_app

    return hydra_app.run(context.args, tune_with, debug=bool(context.obj))


def tune_with(settings: Settings) -> int:
    """One job of what may be several (--multirun); the exit code."""
    from tuner.limiting.drivers import refuse_undriven
    from tuner.limiting.knobs import PROVIDER
    from tuner.pinning.place import refuse_unwritable
    from tuner.tune import run_tune

    if any((PROVIDER, "kernel") in variant.knobs for variant in settings.scenario.measure.variants):
        raise UsageError("measure.variants asks for provider=kernel, of which no pin is made beside the engine's own; leave it to compare")
    refuse_undriven(settings.scenario.engine.name, settings.entries)
    refuse_unwritable(settings.pin_path, settings.store_url, settings.scenario.gpu.name)
    return run_tune(settings)


def demo(
    part: Annotated[str | None, typer.Argument(metavar="PART", help="tune, upgrade or cure alone, or the name of a recorded run")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="wait for nothing (as when stderr is no terminal)")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="keep what is told as files, as the command would; default: nothing is kept")
    ] = None,
) -> None:
    """What was recorded on H200s, told in half a minute: a tune, the upgrade that makes a pinned backend ten times slower, the cure. Or a
    part of it alone, with all of its numbers. Needs no GPU and no network."""
    from tuner.demo.recordings import COMPARISONS, TUNE, TUNED

    if part is None:
        from tuner.demo.story import run_demo_story

        run_demo_story(out, fast)
    elif part in COMPARISONS:
        from tuner.demo.upgrade import run_demo_upgrade

        run_demo_upgrade(part, out, fast)
    else:
        from tuner.demo.tuning import run_demo

        run_demo(TUNED if part == TUNE else part, out, fast)


def _tree(settings: Settings, json: bool) -> str:
    from reports.default_tree import render_json, render_text
    from reports.wording import engine as engine_title
    from tuner.engines.lookup import rules_of

    scenario, engine = settings.scenario, rules_of(settings.scenario)
    rules = engine.rules_for(scenario.engine.version)[0]
    tree = engine.default_tree(scenario, rules)
    if tree is None:
        raise UsageError(f"{engine_title(scenario.engine.name)} has no default tree: it takes the first of a list; run plan without --tree")
    path = engine.settled(scenario, settings.entries, rules).path
    return render_json(tree, path) if json else render_text(tree, path, f"{scenario.model.name} on {scenario.gpu.name}")
