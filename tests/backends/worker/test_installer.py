"""What an installer said last, of all that it said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backends.worker.installer import last_words

MANY = [f"{major}.{minor}.0" for major in range(3) for minor in range(200)]


def pips(wanted: str, offered: Sequence[str]) -> list[str]:
    """As pip 25 writes it, with what goes before and after."""
    listed = ", ".join(offered) or "none"
    return [
        "Looking in links: /wheels\n",
        f"ERROR: Could not find a version that satisfies the requirement kernels=={wanted} (from versions: {listed})\n",
        f"ERROR: No matching distribution found for kernels=={wanted}\n",
        "[notice] A new release of pip is available\n",
    ]


@pytest.mark.parametrize(
    ("wanted", "offered", "nearest"),
    [
        ("9.9.9", MANY, "the nearest offered are 2.198.0, 2.199.0"),
        ("1.9.5", ["1.9.0", "1.10.0", "1.8.0", "1.11.0", "2.0"], "the nearest offered are 1.8.0, 1.9.0, 1.10.0, 1.11.0"),
        ("0.1", ["1.0"], "the nearest offered is 1.0"),
        ("1.0+cu129", ["1.0+cu128", "1.0+cu130"], "the nearest offered are 1.0+cu128, 1.0+cu130"),
        ("1", [], "no release of it is offered"),
    ],
)
def test_of_a_version_that_is_not_there_pips_last_error_and_the_nearest_releases_are_said(
    wanted: str, offered: list[str], nearest: str
) -> None:
    assert last_words(pips(wanted, offered)) == f"No matching distribution found for kernels=={wanted}; {nearest}"


def test_another_error_of_pips_is_said_whole_from_its_beginning() -> None:
    lines = ["Processing x.whl\n", "ERROR: x.whl is not a supported wheel on this platform.\n", "\n"]
    assert last_words(lines) == "x.whl is not a supported wheel on this platform."


def test_why_uv_found_no_solution_is_said_in_one_line() -> None:
    lines = [
        "  × No solution found when resolving dependencies:\n",
        "  ╰─▶ Because there is no version of kernels==9.9.9 and you require\n",
        "      kernels==9.9.9, we can conclude that your requirements are\n",
        "      unsatisfiable.\n",
    ]
    why = "Because there is no version of kernels==9.9.9 and you require kernels==9.9.9, we can conclude that your requirements are"
    assert last_words(lines) == f"{why} unsatisfiable."


def test_what_is_cut_is_cut_at_its_end_and_silence_is_said() -> None:
    assert last_words(["ERROR: " + "why " * 400]).startswith("why why")
    assert last_words(["first " + "x" * 400]).startswith("first")
    assert last_words(["\n"]) == "the installer said nothing"
