"""The traffic of a file: what `traffic=trace` leaves open is read from the file that ``traffic.path`` names."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf

from tuner.errors import UsageError
from tuner.sanity.bounds import out_of_bounds
from tuner.schema.traffic import LimitsNode, TraceNode

if TYPE_CHECKING:
    from tuner.traffic.trace import How, Trace

READ_WITH = (  # checked before a file is read, which may take minutes
    *("traffic.trace.tokens_per_block", "traffic.trace.most_requests", "traffic.trace.requests_per_s"),
    *("traffic.concurrency", "traffic.cached_share", "traffic.shared_prefix_tokens", "measure.seed"),
)
BESIDE = ("path", "trace", "limits")  # of the traffic's node: about the file, no part of what is asked


def read_traffic(cfg: DictConfig) -> Trace | None:
    """Fills in the open settings of the traffic in ``cfg``; None where it has its lengths. Raises `UsageError`, also where a path or what
    belongs to one is given to such traffic."""
    missing = {key for key in cfg.traffic if OmegaConf.is_missing(cfg.traffic, key)}
    open_ = missing or any(OmegaConf.is_missing(cfg.traffic.prompt, key) for key in cfg.traffic.prompt)
    if not open_:
        _refuse_idle(cfg.traffic)
        return None
    if cfg.traffic.path is None:
        raise UsageError("traffic=trace reads a log or a data set; give traffic.path=FILE")
    from tuner.traffic.read import read_trace  # other traffic needs none of it
    from tuner.traffic.summary import summary

    for complaint in out_of_bounds(cfg, READ_WITH):
        raise UsageError(complaint)
    trace = read_trace(cfg.traffic.path, _how(cfg), cfg.engine.name)
    found = summary(trace)
    if "name" in missing:
        cfg.traffic.name = Path(cfg.traffic.path).name.partition(".")[0] or "trace"
    for kind in ("prompt", "output"):
        for key, value in found[kind].items():
            if OmegaConf.is_missing(cfg.traffic[kind], key):
                cfg.traffic[kind][key] = value
    return _with_limits(trace, cfg.traffic.limits)


def _how(cfg: DictConfig) -> How:
    from tuner.traffic.columns import Columns
    from tuner.traffic.trace import How

    asked, columns = cfg.traffic.trace, cfg.traffic.trace.columns
    unit = None if asked.time_unit is None else asked.time_unit.name
    return How(
        columns=Columns(**{name: columns[name] for name in columns}, unit=unit),
        tokens_per_block=asked.tokens_per_block,
        most_requests=asked.most_requests,
        requests_per_s=asked.requests_per_s,
        at_once=cfg.traffic.concurrency,
        cached_share=cfg.traffic.cached_share,
        shared=cfg.traffic.shared_prefix_tokens,
        seed=cfg.measure.seed,
    )


def _with_limits(trace: Trace, given: DictConfig) -> Trace:
    """What the user says of the server stands before what its log says."""
    plain = LimitsNode()
    changed = {field.name: given[field.name] for field in fields(plain) if given[field.name] != getattr(plain, field.name)}
    return replace(trace, limits=replace(trace.limits, **changed))


def _refuse_idle(traffic: DictConfig) -> None:
    """What belongs to a file, beside traffic that is read from none."""
    if traffic.path is not None:
        raise UsageError(f"traffic.path is read with traffic=trace alone, and traffic {traffic.name} has its lengths; drop one of the two")
    for key, plain in (("trace", TraceNode()), ("limits", LimitsNode())):
        if traffic[key] != OmegaConf.structured(plain):
            raise UsageError(f"traffic.{key} belongs to traffic=trace, and traffic {traffic.name} has its lengths; leave it out")
