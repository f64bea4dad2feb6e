"""A comparison as files to commit: written once, read and judged again from its evidence alone."""

from __future__ import annotations

from pathlib import Path

from reports.side_by_side import render_markdown
from store.comparisons.comparison_evidence import comparison_bytes, public_comparison, read_comparison
from store.comparisons.side_by_side import SideBySide
from store.files import destination, write_together
from store.verdicts.version_verdict import VersionVerdict
from tuner.comparing.judge import judge, rule_of
from tuner.errors import UsageError
from tuner.pinning.place import refuse_folder
from tuner.unmeasured.regressions import load_regressions

EVIDENCE, MARKDOWN, COMMAND = "comparison.evidence.jsonl.zst", "comparison.md", "command.txt"


def judged(measured: SideBySide, config_dir: str | None = None) -> VersionVerdict:
    """By today's rules, with what is known of regressions; the same from the store and from a file."""
    return judge(measured, rule_of(measured), load_regressions(config_dir))


def recorded(path: Path) -> SideBySide:
    """Of an evidence file, or of the folder that holds it. Raises `UsageError` where there is none, `EvidenceError`, or `NewerSchema`."""
    file = path / EVIDENCE if path.is_dir() else path
    if not file.exists():
        raise UsageError(f"--comparison {path}: there is no {file}; give the folder that attnpin compare --out wrote")
    return read_comparison(file)


def texts(measured: SideBySide, config_dir: str | None = None) -> dict[str, str]:
    """File names and contents beside the evidence, of a comparison as its evidence has it."""
    return {MARKDOWN: render_markdown(measured, judged(measured, config_dir)), COMMAND: f"{measured.command}\n"}


def write_comparison(folder: Path, measured: SideBySide, config_dir: str | None = None) -> None:
    """All files or none; they replace those of an earlier comparison. Raises `StoreError`."""
    shown = texts(public_comparison(measured), config_dir)
    files = [(folder / EVIDENCE, comparison_bytes(measured)), *((folder / name, text.encode()) for name, text in shown.items())]
    write_together(files)


def refuse_unwritable(folder: Path) -> None:
    """Before anything is measured. Raises `UsageError` or `StoreError` where the files could not be put."""
    for name in (EVIDENCE, MARKDOWN, COMMAND):
        refuse_folder(f"--out {folder}", destination(folder / name))
