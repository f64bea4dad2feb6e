"""What is known of backends and of the environment that serves."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from backends.question import ENGINES
from tuner.command_line.boundary import say
from tuner.commands.options import ConfigDir, Json, Markdown, Overrides, refuse_two_forms, settings_of
from tuner.errors import UsageError

COMPARED = "sglang"  # whose documentation and docstrings were read


def limits(
    overrides: Overrides = None,
    markdown: Markdown = False,
    json: Json = False,
    config_dir: ConfigDir = None,
    drift: Annotated[bool, typer.Option("--drift", help="where the engine's documentation, docstrings and code differ")] = False,
) -> None:
    """Every backend with its limits, for the rules of one engine.version. Needs no GPU and asks none."""
    refuse_two_forms(json, markdown)
    from reports import drift as differences
    from reports import limits_table
    from tuner.engines.lookup import engine_named
    from tuner.settings import compose_backends

    known = compose_backends(overrides or (), config_dir)
    rules, note = engine_named(known.engine).rules_for(known.version)
    if note is not None:
        say(note)
    form = "json" if json else "markdown" if markdown else "text"
    if drift and known.engine != COMPARED:
        raise UsageError(f"limits --drift compares what is written of {ENGINES[COMPARED]}, and of no other engine; leave --drift out")
    if drift:
        from tuner.drift import drift_of

        sys.stdout.write(differences.RENDER[form](drift_of(known.entries, rules, config_dir), rules))
    else:
        sys.stdout.write(limits_table.RENDER[form](known.entries, rules))


def doctor(overrides: Overrides = None, json: Json = False, config_dir: ConfigDir = None) -> int:
    """What is wrong with the environment that serves, and what to do. Exit 0: nothing; 3: warnings; 2: mend it first."""
    from reports.doctor import render_json, render_text
    from tuner.doctor.diagnose import diagnose

    settings = settings_of(overrides, config_dir)
    diagnosis = diagnose(settings.scenario.engine, config_dir, settings.patience)
    sys.stdout.write(render_json(diagnosis) if json else render_text(diagnosis))
    return diagnosis.exit_code
