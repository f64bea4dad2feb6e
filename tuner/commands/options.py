"""Arguments and options that several commands take, and the settings they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tuner.settings import Settings

Overrides = Annotated[list[str] | None, typer.Argument(metavar="[key=value]...", help="as for tune, e.g. model=qwen3_8b gpu=h200")]
PinFile = Annotated[str | None, typer.Option("--pin", metavar="FILE", help="the pin (the same as pin.path=FILE)")]
ConfigDir = Annotated[str | None, typer.Option("--config-dir", "-cd", metavar="DIR", help="a folder with more configuration groups")]
Json = Annotated[bool, typer.Option("--json", help="data instead of text")]
Explain = Annotated[bool, typer.Option("--explain", help="why the verdict is what it is: every comparison in numbers")]
Markdown = Annotated[bool, typer.Option("--md", help="Markdown instead of plain text")]


def settings_of(overrides: list[str] | None, config_dir: str | None, pin: str | None = None) -> Settings:
    from tuner.settings import compose, pin_override

    return compose([*(overrides or ()), *([] if pin is None else [pin_override(pin)])], config_dir)


def names_pin(overrides: list[str] | None, pin: str | None) -> bool:
    return pin is not None or any(override.startswith("pin.path=") for override in overrides or ())


def pin_path_of(overrides: list[str] | None, config_dir: str | None, pin: str | None) -> Path:
    """Without overrides there is nothing to compose, which takes longer than the rest of such a command."""
    return Path(pin) if pin is not None and not overrides else settings_of(overrides, config_dir, pin).pin_path
