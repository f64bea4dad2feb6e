from __future__ import annotations

from reports.limits_table import render
from tests.asking import entries

ALL = tuple(entries().values())


def row(backend: str, rules: str = "0.5.22") -> str:
    return next(line for line in render(ALL, rules).splitlines() if line.startswith(f"| {backend}"))


def test_every_backend_the_version_knows_has_a_row() -> None:
    assert len(render(ALL, "0.5.22").splitlines()) == 2 + 23
    assert len(render(ALL, "0.5.16").splitlines()) == 2 + 23 - 5


def test_every_row_has_every_column() -> None:
    assert {line.replace("\\|", "").count("|") for line in render(ALL, "0.5.22").splitlines()} == {13}


def test_a_row_reads_from_the_data() -> None:
    assert "| page size 16, 32, 64, 128 (else 64) |" in row("trtllm_mha")
    assert "no unequal K/V widths" in row("flashinfer")
    assert "sinks" in row("torch_native") and "| no | cuda, cpu |" in row("torch_native")
    assert row("dsa").startswith("| dsa, nsa (alias) |")


def test_a_version_shows_its_own_limits_only() -> None:
    assert "| page size 16, 32, 64 (else 64) |" in row("trtllm_mha", "0.5.16")
