"""`attnpin tune` as a Hydra application: its flags, overrides, help and completion are Hydra's own. Many scenarios are ours to run."""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from store.database.interrupts import held_back
from tuner.command_line.boundary import report
from tuner.composing.explain import TUNE_S_HELP, usage_errors
from tuner.errors import UsageError, worst
from tuner.settings import Settings, compose, pin_override, settings_from
from tuner.suggest import instead

OWN_FLAGS = ("--pin", "--fresh", "--without-default", "--wait-for-gpu", "--explain", "--json")
ELSEWHERE = frozenset({"executor=ray", "executor=slurm"})
JOB = "executor.since="  # given to what a sweep begins
WITH_VALUE = ("--pin", "--wait-for-gpu")
NO_BACKEND = "backend=[]"  # Hydra composes everything before it helps, and merging their files takes most of the time

Job = Callable[[Settings], int]


def run(arguments: Sequence[str], job: Job, debug: bool) -> int:
    """Hands ``arguments`` to Hydra, which calls ``job`` or only shows something; with --multirun, or a file of scenarios, to
    `tuner.sweep`, unless a launcher or sweeper of Hydra's is named, which then calls ``job`` once a combination.

    Returns the gravest exit code of all jobs. Hydra's own exits pass through as SystemExit.
    """
    words = hydra_arguments(arguments)
    if (asked := _many(words)) is not None:
        from tuner.sweep.asked import run_asked

        with _command_line(arguments):
            return run_asked(*asked, debug)
    if (asked := _job(words)) is not None:
        with _command_line(arguments):
            return job(compose(*asked))
    import hydra
    from omegaconf import DictConfig

    from tuner.schema.root import register

    codes: list[int] = []

    def attnpin(cfg: DictConfig) -> None:
        composing.close()
        try:
            codes.append(job(settings_from(cfg, _config_dir())))
        except Exception as error:  # the other jobs of a --multirun still run
            codes.append(report(error, debug))

    register()
    with ExitStack() as composing, usage_errors(), _command_line(words), _quiet_logging():
        composing.enter_context(held_back())
        hydra.main(config_path="pkg://conf", config_name="config", version_base="1.3")(attnpin)()
    return worst(codes)


def _config_dir() -> str | None:
    """The folder that --config-dir named, as Hydra understood it."""
    from hydra.core.hydra_config import HydraConfig

    sources = HydraConfig.get().runtime.config_sources
    return next((source.path for source in sources if source.provider == "command-line"), None)


def hydra_arguments(arguments: Sequence[str]) -> list[str]:
    """``arguments`` with our own flags turned into overrides and all overrides first: Hydra takes them in one run only."""
    try:
        own, rest = _own_flags().parse_known_args(list(arguments))
    except argparse.ArgumentError as error:
        raise UsageError(f"{error}; {TUNE_S_HELP}") from error
    known = _parsed(rest)
    options = list(rest)
    for override in known.overrides:
        options.remove(override)
    unread = [NO_BACKEND] if known.help and not known.overrides else []
    return [*known.overrides, *_as_overrides(own), *unread, *options]


def _many(arguments: list[str]) -> tuple[list[str], str | None] | None:
    """Overrides and --config-dir of a command line that is about several scenarios and runs them, or about one that another place than
    this process runs; None for any other."""
    known = _parsed(arguments)
    several = known.multirun or any(override.startswith("scenarios=") for override in known.overrides)
    several = several or (not _is_job(known) and not ELSEWHERE.isdisjoint(known.overrides))
    others = any(override.startswith(("hydra/launcher=", "hydra/sweeper=")) for override in known.overrides)
    return (list(known.overrides), known.config_dir) if several and not _shows(known) and not others else None


def _job(arguments: list[str]) -> tuple[list[str], str | None] | None:
    """Overrides and --config-dir of one that a sweep began, composed as that looked at it: Hydra's application composes everything twice.
    None for any other, and where something is asked of Hydra itself."""
    known = _parsed(arguments)
    hydra_s = any(override.lstrip("+~").startswith("hydra") for override in known.overrides)
    alone = _is_job(known) and not known.multirun and not hydra_s and not _shows(known)
    return (list(known.overrides), known.config_dir) if alone else None


def _is_job(known: argparse.Namespace) -> bool:
    return any(override.startswith(JOB) for override in known.overrides)


def _shows(known: argparse.Namespace) -> bool:
    """Instead of doing something."""
    return bool(known.cfg or known.info or known.help or known.hydra_help or known.shell_completion)


def _parsed(arguments: list[str]) -> argparse.Namespace:
    from hydra._internal.utils import get_args_parser

    parser = get_args_parser()
    parser.exit_on_error = False
    try:
        known, unknown = parser.parse_known_intermixed_args(arguments)
    except argparse.ArgumentError as error:
        raise UsageError(f"{error}; {TUNE_S_HELP}") from error
    if unknown:
        options = re.findall(r"--[a-z][a-z-]+", parser.format_usage())
        raise UsageError(f"There is no option {unknown[0]}; {instead(unknown[0], [*options, *OWN_FLAGS], TUNE_S_HELP)}")
    return known


def _own_flags() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(prog="attnpin tune", add_help=False, allow_abbrev=False, exit_on_error=False)
    for name in OWN_FLAGS:
        flags.add_argument(name, action="store" if name in WITH_VALUE else "store_true")
    return flags


def _as_overrides(own: argparse.Namespace) -> list[str]:
    given = [f"{name}=true" for name in ("fresh", "without_default", "explain", "json") if getattr(own, name)]
    given += [] if own.wait_for_gpu is None else [f"wait_for_gpu={own.wait_for_gpu}"]
    return given if own.pin is None else [*given, pin_override(own.pin)]


@contextmanager
def _command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Hydra reads sys.argv, and prints errors itself and leaves with 1 unless this variable asks for the exception."""
    before_arguments, before_variable = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = ["attnpin", *arguments]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = before_arguments
        if before_variable is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = before_variable


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """`--info` speaks through logging, which meets a reader that goes away with a traceback for every line it cannot write."""
    before, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        yield
    finally:
        logging.raiseExceptions = before
