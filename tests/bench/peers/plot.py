"""docs/peers.svg: worst regret against seconds on a GPU, one line a contestant."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reports.web.rows import plain_ticks
from tests.bench.peers.peers import MUCH
from tests.bench.peers.score import Result

LEAST = 1e-4  # of regret: below it a point lies on the axis
SIZE_INCHES = (8, 5)


def draw(found: Iterable[Result], file: Path) -> None:
    """Needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "attnpin"  # the same rows give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    lines: dict[str, list[Result]] = {}
    for result in found:
        lines.setdefault("attnpin" if result.is_ours else result.name, []).append(result)
    for name, points in lines.items():
        seconds, worst = zip(*sorted((point.held.all_s, 100 * max(LEAST, point.worst or 0.0)) for point in points))
        axes.plot(seconds, worst, marker="o" if name == "attnpin" else ".", linewidth=2 if name == "attnpin" else 1, label=name)
    axes.axhline(100 * MUCH, color="grey", linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="seconds on a GPU, all cells", ylabel="worst regret, %")
    for axis in (axes.xaxis, axes.yaxis):
        plain_ticks(axis, log=True)
    axes.legend(fontsize="small")
    figure.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(figure)
