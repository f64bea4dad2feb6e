"""The texts under examples/ are made from the evidence beside them: `python -m tests.examples` writes them again."""

from __future__ import annotations

from pathlib import Path

from reports import justification, run_report
from reports.export import export
from store.evidence import read_evidence
from store.pin_files import read_pin, verify_evidence
from tuner.launchers import load_launchers

EXAMPLES = Path(__file__).parents[1] / "examples"


def folders() -> list[Path]:
    return sorted(pin.parent for pin in EXAMPLES.glob("*/pin.yaml"))


def texts(folder: Path) -> dict[str, str]:
    """File names and contents of what a run's evidence says today."""
    pin = read_pin(folder / "pin.yaml")
    run = read_evidence(verify_evidence(folder / "pin.yaml", pin))
    return {
        "pin.md": justification.render(pin, run),
        "report.md": run_report.render_markdown(run),
        "flags.txt": export(pin, load_launchers()["sglang-yaml"]).text,
    }


if __name__ == "__main__":
    for example in folders():
        for name, text in texts(example).items():
            (example / name).write_text(text)
