from __future__ import annotations

from tests.bench.sittings.building import CELLS, anchors, made_up
from tests.bench.sittings.page import WANTED, render


def test_what_is_not_there_yet_is_said_and_not_left_out() -> None:
    page = render([])
    assert f"0 of {WANTED} sittings" in page and "holds" not in page and "missed" not in page
    assert all(f"| H{number} |" in page for number in range(1, 10)) and page.count("not measured yet") == page.count("\n| H")


def test_a_page_tells_of_every_sitting_and_of_every_miss() -> None:
    sittings = [made_up("r1", anchors=(anchors(230.0),)), made_up("r2", "GPU-1", seed=2, planted={("fa3/p1#2", "b"): 1.05})]
    short = made_up("r3", seed=3, processes=3)
    page = render([*sittings, short])
    for line in ("| 2026-01-02 03:04 | A | fa3/p1 | 4 | 4 | 4 | 0 |", "| 2026-01-02 03:04 | B | fa3/p1 | 4 | 4 | 3 | 1 |"):
        assert line in page
    assert "| 2026-01-02 03:04 | A | fa3/p1 | 3 | 4 |  |  |  |  |  |" in page
    assert "| 2026-01-02 03:04 | fa3/p1 | b | 0 % | regressed | +5.0" in page
    assert f"| H1 | unchanged, called regressed or improved | replayed | none | 1 | {2 * len(CELLS)} |" in page
    assert "| missed |" in page and f"2 of {WANTED} sittings" in page
