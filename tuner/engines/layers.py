"""The layers of a model as one rank of a server has them."""

from __future__ import annotations

from backends.model import LayerKind, Model, UnevenSplit
from store.scenario import Engine
from tuner.errors import UsageError
from tuner.workload.ranks import rank_kind, ranks_of


def layers_of(model: Model, engine: Engine) -> tuple[LayerKind, ...]:
    """Each layer kind with the heads of one rank; `UsageError` where they do not divide."""
    try:
        return tuple(rank_kind(kind, ranks_of(engine)) for kind in model.layers)
    except UnevenSplit as error:
        raise UsageError(str(error)) from error
