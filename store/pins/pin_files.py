"""The three files of a pin: X.yaml, X.md and X.evidence.jsonl.zst."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from store.errors import EvidenceError, PinError
from store.evidence.run_evidence import evidence_bytes, read_evidence, sha256
from store.evidence.scrub import without_paths
from store.files import write_together
from store.pins.pin import Pin
from store.pins.pin_yaml import in_order, pin_of, pin_text
from store.runs.run import Run


def markdown_path(path: Path) -> Path:
    return path.with_name(f"{_stem(path)}.md")


def evidence_path(path: Path) -> Path:
    return path.with_name(f"{_stem(path)}.evidence.jsonl.zst")


def files_of(path: Path) -> tuple[Path, Path, Path]:
    """In the order in which they are written: a reader opens the last one first."""
    return evidence_path(path), markdown_path(path), path


def evidence_entry(path: Path, run: Run) -> tuple[str, str]:
    """`Pin.evidence` for a pin at ``path``: the name and SHA-256 of the file that `write_pin` will write."""
    return evidence_path(path).name, sha256(evidence_bytes(run))


def write_pin(path: Path, pin: Pin, markdown: str, run: Run) -> Pin:
    """Write all three files or none, the evidence first and the pin last; they replace those of an earlier pin.

    Returns the pin as it now stands in the file: with the evidence that was written, mappings sorted, absolute paths in
    environment variables cut as in the evidence. Raises `StoreError`.
    """
    evidence = evidence_bytes(run)
    variables = tuple((name, without_paths(value)) for name, value in pin.valid_for.variables)
    entry = evidence_path(path).name, sha256(evidence)
    written = in_order(replace(pin, evidence=entry, valid_for=replace(pin.valid_for, variables=variables)))
    text = pin_text(written, path.name, _stem(path))
    write_together(list(zip(files_of(path), (evidence, markdown.encode(), text.encode()))))
    return written


def read_pin(path: Path) -> Pin:
    """Raises `PinError` or `NewerSchema`. The evidence is not looked at: `verify_evidence`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PinError(f"pin {path} cannot be read ({error.strerror}); give the path of a pin.yaml with --pin") from None
    except UnicodeDecodeError:
        raise PinError(f"{path} is no text file; give the path of a pin.yaml with --pin") from None
    return pin_of(text, path.name)


def verify_evidence(path: Path, pin: Pin) -> Path:
    """The evidence file of the pin at ``path``, found beside it and unchanged. Raises `EvidenceError`."""
    name, expected = pin.evidence
    if Path(name).name != name:
        raise EvidenceError(f"pin {path.name} names evidence {name!r}; it must be a file beside the pin, without a folder")
    evidence = path.with_name(name)
    try:
        found = sha256(evidence.read_bytes())
    except OSError as error:
        raise EvidenceError(f"evidence {name} of pin {path.name} cannot be read ({error.strerror}); restore it beside the pin") from None
    if found != expected:
        raise EvidenceError(
            f"evidence {name} is not the one pin {path.name} was written with (SHA-256 {found[:12]}, expected {expected[:12]}); "
            "restore it, or run attnpin tune again"
        )
    return evidence


def evidence_of(path: Path, pin: Pin) -> Run:
    """The run behind the pin at ``path``. Raises as `verify_evidence` and `read_evidence`."""
    return read_evidence(verify_evidence(path, pin))


def _stem(path: Path) -> str:
    return path.stem if path.suffix in (".yaml", ".yml") else path.name
