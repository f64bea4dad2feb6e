from __future__ import annotations

from dataclasses import replace

from backends.environment import Board, Distribution, Environment

BOARD = Board("cpu", "a CPU", None, None, None, None, None, None)
FOUND = Environment(
    board=BOARD,
    python="3.12.0",
    torch="2.14.1",
    cuda=None,
    triton=None,
    distributions=(Distribution("flashinfer-python", "0.7.1", "sha256:1"), Distribution("torch", "2.14.1", "sha256:2")),
    variables=(),
    image=None,
    imports=(("flashinfer", "flashinfer-python"), ("torch", "torch")),
)


def test_an_import_name_has_the_version_of_its_distribution() -> None:
    assert FOUND.releases == {"flashinfer": "0.7.1", "torch": "2.14.1"}


def test_an_import_without_a_distribution_is_there_and_has_no_version() -> None:
    assert replace(FOUND, imports=(("sgl_kernel", "built here"),)).releases == {"sgl_kernel": ""}
