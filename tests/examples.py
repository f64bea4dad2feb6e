"""What lies under examples/ follows from the measurements in it: `python -m tests.examples` decides and writes all of it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reports import justification, run_report
from reports.export import export
from reports.web.comparison_page import comparison_page
from reports.web.html import render
from reports.web.page import WebPage
from reports.web.run_page import run_page
from store.comparisons.side_by_side import SideBySide
from store.evidence.run_evidence import read_evidence
from store.pins.pin import Pin
from store.pins.pin_files import evidence_entry, read_pin, verify_evidence, write_pin
from store.runs.run import Run
from tests import example_bisections, example_checks
from tuner.comparing.recorded import EVIDENCE, judged, recorded
from tuner.comparing.recorded import texts as comparison_texts
from tuner.decide import decide
from tuner.exporting.launchers import load_launchers
from tuner.pin import pin_of

PAGE = "report.html"
EXAMPLES = Path(__file__).parents[1] / "examples"


def folders() -> list[Path]:
    return sorted(pin.parent for pin in EXAMPLES.glob("*/pin.yaml"))


def pages() -> list[Path]:
    """Folders whose page is kept: a page takes ten times what its evidence does, so those that show something of their own."""
    return sorted(page.parent for page in EXAMPLES.glob(f"*/{PAGE}"))


def comparisons() -> list[Path]:
    """Folders with what `attnpin compare --out` wrote."""
    return sorted(evidence.parent for evidence in EXAMPLES.glob(f"upgrade/*/{EVIDENCE}"))


def bisections() -> list[Path]:
    return sorted(text.parent for text in EXAMPLES.glob(f"upgrade/*/{example_bisections.TEXT}"))


def checks() -> list[Path]:
    """Folders with a pin, and what a check of it measured."""
    return sorted(evidence.parent for evidence in EXAMPLES.glob(f"upgrade/*/{example_checks.TODAY}"))


def stored(folder: Path) -> tuple[Pin, Run]:
    """The pin, and the run in its evidence."""
    pin = read_pin(folder / "pin.yaml")
    return pin, read_evidence(verify_evidence(folder / "pin.yaml", pin))


def texts(pin: Pin, run: Run) -> dict[str, str]:
    """File names and contents beside the pin."""
    return {
        "pin.md": justification.render(pin, run),
        "report.md": run_report.render_markdown(run),
        "flags.txt": export(pin, load_launchers()["sglang-yaml"]).text,
    }


def page(pin: Pin, run: Run) -> WebPage:
    """What `attnpin report --html` makes of them. Plots come out a little otherwise with another Matplotlib."""
    return run_page(run, pin)


def comparison_page_of(measured: SideBySide) -> WebPage:
    return comparison_page(measured, judged(measured))


def decide_again(folder: Path) -> None:
    """By today's rules, from the same measurements; pin and evidence hold the new decision."""
    path, (_, run) = folder / "pin.yaml", stored(folder)
    decided = replace(run, decision=(decision := decide(run)))
    pin = pin_of(decided, decision, evidence_entry(path, decided))
    write_pin(path, pin, justification.render(pin, decided), decided)


def write_all(folder: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    for example in folders():
        decide_again(example)
        write_all(example, texts(*stored(example)))
    for example in pages():
        (example / PAGE).write_text(render(page(*stored(example))))
    for example in comparisons():
        (example / PAGE).write_text(render(comparison_page_of(recorded(example))))
        write_all(example, comparison_texts(recorded(example)))
    for example in bisections():
        write_all(example, example_bisections.bisection_texts(example))
    for example in checks():
        write_all(example, example_checks.check_texts(example))
