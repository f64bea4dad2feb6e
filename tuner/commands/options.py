"""Arguments and options that several commands take, and the settings they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.errors import UsageError

if TYPE_CHECKING:
    from store.runs.run import Run
    from tuner.settings import Settings

Overrides = Annotated[list[str] | None, typer.Argument(metavar="[key=value]...", help="as for tune, e.g. model=qwen3_8b gpu=h200")]
PinFile = Annotated[str | None, typer.Option("--pin", metavar="FILE", help="the pin (the same as pin.path=FILE)")]
ConfigDir = Annotated[str | None, typer.Option("--config-dir", "-cd", metavar="DIR", help="a folder with more configuration groups")]
Json = Annotated[bool, typer.Option("--json", help="data instead of text")]
Explain = Annotated[bool, typer.Option("--explain", help="why the verdict is what it is: every comparison in numbers")]
Markdown = Annotated[bool, typer.Option("--md", help="Markdown instead of plain text")]


def refuse_two_forms(json: bool, markdown: bool) -> None:
    if json and markdown:
        raise UsageError("--json and --md are two forms of one answer; give one of them")


def settings_of(overrides: list[str] | None, config_dir: str | None, pin: str | None = None) -> Settings:
    from tuner.settings import compose, pin_override

    return compose([*(overrides or ()), *([] if pin is None else [pin_override(pin)])], config_dir)


def settings_here(overrides: list[str] | None, config_dir: str | None) -> Settings:
    """Of a command that measures on this machine. Raises `UsageError` where another executor is asked for."""
    from tuner.executors.place import refuse_elsewhere

    settings = settings_of(overrides, config_dir)
    refuse_elsewhere(settings.executor)
    return settings


def names_pin(overrides: list[str] | None, pin: str | None) -> bool:
    return pin is not None or any(override.startswith("pin.path=") for override in overrides or ())


def pin_path_of(overrides: list[str] | None, config_dir: str | None, pin: str | None) -> Path:
    """Without overrides there is nothing to compose, which takes longer than the rest of such a command."""
    return Path(pin) if pin is not None and not overrides else settings_of(overrides, config_dir, pin).pin_path


def named_run(overrides: list[str] | None, run_id: str | None, pin: str | None, config_dir: str | None) -> tuple[Run, str | None]:
    """The run that ``run_id`` or a pin names, else the store's newest that was decided; the sentence names a newer one that was not."""
    from tuner.past.stored import run_from_pin, run_from_store

    if not names_pin(overrides, pin):
        return run_from_store(settings_of(overrides, config_dir).store_url, run_id)
    if run_id is not None:
        raise UsageError("--run and --pin each name a run; give one of them")
    return run_from_pin(pin_path_of(overrides, config_dir, pin)), None
