"""Causes in the work that the log shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from reports import load_words, numbers, wording
from store.serving.triaged import Cause, Ground, Kind, Load, Proof
from tuner.triaging.cause import cause
from tuner.triaging.signs import Signs

MOST = 0.5  # of the lines: what is so in fewer is not how the server works now
FEW = 0.02  # of the lines: steps outside graphs below this cost no more than a percent or so
SLOWED = 1.3  # a token with prefills before it against one without
OFTEN = 0.25  # of the lines with prefills before them
BEYOND = 1.25  # of the largest batch or context that the pin was measured for; and below half of the smallest

KEPT_OUT = "look in the server's arguments for what keeps a step out of its graph: LoRA, log-probabilities, mixed chunks"


def causes(signs: Signs) -> Iterator[Cause]:
    if signs.load is not None:
        yield from _pool(signs, signs.load)
        yield from _queue(signs, signs.load)
        yield from _graphs(signs, signs.load)
        yield from _prefills(signs, signs.load)
        yield from _traffic(signs, signs.load)


def _pool(signs: Signs, load: Load) -> Iterator[Cause]:
    full = load.full_lines > MOST * load.lines and bool(load.waiting_lines)
    if not load.retracted and not full:
        return
    proofs = []
    if load.retracted:
        lost = f"{wording.count(load.retracted, 'request')} lost their place in the pool and are computed again"
        proofs.append(Proof(lost, load.retraction))
    if load.usage is not None:
        proofs.append(Proof(f"{numbers.percent(load.usage)} of the pool is in use{load_words.waiting(load)}", load.last))
    sentence = f"the KV pool is full at {load.batch} requests: what does not fit waits or is computed twice, whatever backend serves"
    yield cause(Kind.KV_POOL, Ground.SEEN, sentence, proofs, [signs.remedies.pool])


def _queue(signs: Signs, load: Load) -> Iterator[Cause]:
    if load.waiting_lines <= MOST * load.lines:
        return
    running = f"{load.batch} run at once{load_words.waiting(load)}"
    sentence = f"requests wait before they run: {running}; that is time to the first token, not attention"
    lines = f"{load.waiting_lines} of the last {wording.count(load.lines, 'decode line')} have a queue"
    yield cause(Kind.QUEUE, Ground.SEEN, sentence, [Proof(lines, load.last)], [signs.remedies.queue])


def _graphs(signs: Signs, load: Load) -> Iterator[Cause]:
    outside, told = sum(lines for _, lines in load.outside), load.told
    if not told or outside <= FEW * told or any(server.start.graphs.on is False for server in signs.verified.servers):
        return  # where graphs are off altogether that is said elsewhere
    sizes = {size for server in signs.verified.servers for size in server.start.graphs.sizes}
    above = sum(lines for batch, lines in load.outside if sizes and batch > max(sizes))
    most = max(batch for batch, _ in load.outside)
    why = f"{above} of them with more requests than the largest captured batch, {max(sizes)}" if above else "not for the batch size"
    why = why if sizes else "which batch sizes were captured is not in the log"
    share = f"{outside} of {told} decode lines ({numbers.percent(outside / told)}) say that no graph was replayed, {why}"
    captured = next((server.start.graphs.said for server in signs.verified.servers if server.start.graphs.said), None)
    sentence = f"{numbers.percent(outside / told)} of decode steps run outside CUDA graphs, launched one kernel after another"
    remedy = signs.remedies.graph_sizes.format(batch=most) if above else KEPT_OUT
    yield cause(Kind.GRAPHS_MISSED, Ground.SEEN, sentence, [Proof(share, captured)], [remedy])


def _prefills(signs: Signs, load: Load) -> Iterator[Cause]:
    quiet, busy = load.quiet_ms, load.busy_ms
    if quiet is None or busy is None or busy < SLOWED * quiet or load.busy_lines < OFTEN * load.lines:
        return
    lines = f"{numbers.milliseconds(busy)} a token where prefills ran since the line before, {numbers.milliseconds(quiet)} where none did"
    often = f"{load.busy_lines} of {load.lines} decode lines, {load.prefills:.1f} prefill batches each on average"
    sentence = f"prefills come between decode steps and make a token take {busy / quiet:.2f} times as long"
    yield cause(Kind.PREFILLS, Ground.SEEN, sentence, [Proof(lines, load.last), Proof(often)], [signs.remedies.prefills])


def _traffic(signs: Signs, load: Load) -> Iterator[Cause]:
    """Against the cells that the pin's traffic visits; others were measured so that no pick loses there."""
    cells = signs.decode_cells
    if not cells:
        return
    batches, contexts = [cell.batch for cell in cells], [fmean(cell.context_lens) for cell in cells]
    outside = [*_off("request", "at once", load.batch, batches), *_off("token", "a request", load.tokens_per_request, contexts)]
    if outside:
        sentence = f"the pin says nothing of this traffic: {' and '.join(outside)}"
        tokens = [f"traffic.prompt.median_tokens={load.tokens_per_request}"] if load.tokens_per_request else []
        again = f"measure for it: {signs.tune(f'traffic.concurrency={load.batch}', *tokens)}"
        yield cause(Kind.TRAFFIC, Ground.SEEN, sentence, [Proof(load_words.state(load), load.last)], [again])


def _off(noun: str, how: str, now: int | None, measured: Sequence[float]) -> Iterator[str]:
    if now is not None and not min(measured) / 2 <= now <= BEYOND * max(measured):
        least, most = round(min(measured)), round(max(measured))
        yield f"{wording.count(now, noun)} {how}, measured for {least if least == most else f'{least} to {most}'}"
