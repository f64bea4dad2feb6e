"""docs/whole-step.svg: how far measured differences between backends lie from predicted ones, in points of the engine's step."""

from __future__ import annotations

import io
from collections.abc import Sequence

from tests.bench.step.judge import POINTS, Difference

SIZE_INCHES = (7, 3.5)
LINEAR = 1.0  # points: the axis is logarithmic beyond, since a few differences are ten times the others


def draw(found: Sequence[Difference]) -> bytes:
    """Needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "attnpin"  # the same rows give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    axes.axhspan(-POINTS, POINTS, color="tab:blue", alpha=0.12, linewidth=0, label=f"within {POINTS:g} points")
    for other in dict.fromkeys(each.other for each in found):
        those = [each for each in found if each.other == other]
        off, wide = [each.measured - each.foretold for each in those], [each.half_width or 0.0 for each in those]
        foretold, label = [each.foretold for each in those], f"{other} - {those[0].one}"
        axes.errorbar(foretold, off, yerr=wide, fmt="o", markersize=4, linewidth=1, label=label)
    axes.set_xscale("symlog", linthresh=LINEAR)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="predicted difference, points of the engine's step", ylabel="measured less predicted, points")
    figure.legend(fontsize="small", loc="outside right upper")
    held = io.BytesIO()
    figure.savefig(held, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return held.getvalue()
