"""Causes in what the server says that it serves. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import wording
from store.serving.triaged import Cause, Ground, Kind, Proof
from store.serving.verified import DECODE, GRAPHS, PAGE_SIZE, PREFILL, Difference, Quote, Server, Standing
from tuner.triaging.cause import cause
from tuner.triaging.pace import SLOWER
from tuner.triaging.signs import Signs
from tuner.verifying.judge import NOT_COMPARABLE

OUTSIDE = "tell whatever counts in pages outside the server, such as a router that looks for cached prefixes: {found}, not {pinned}"


def causes(signs: Signs) -> Iterator[Cause]:
    """Not what was pinned, in another graph mode, or with settings that the pin was not asked for."""
    servers = signs.verified.servers
    differing = [(each, server) for server in servers for each in server.differences]
    if others := [each for each, _ in differing if each.what != GRAPHS]:
        yield _not_as_pinned(signs, others, _ground(signs, differing))
    if graphs := [each for each, _ in differing if each.what == GRAPHS]:
        yield _graphs_off(signs, graphs[0], _ground(signs, differing))
    if asked := list(_other_questions(signs, servers)):
        sentence = f"the server answers another question than the pin: {'; '.join(words for words, _ in asked)}"
        proofs = [Proof(words, quote) for words, quote in asked]
        again = f"measure for what it serves: {signs.tune(*_overrides(servers))}"
        yield cause(Kind.OTHER_QUESTION, Ground.SAID, sentence, proofs, [again])
    if foreign := [server.start.foreign for server in servers if server.start.foreign]:
        sentence = f"no number of the pin is about this server: {foreign[0]}"
        yield cause(Kind.UNKNOWN, Ground.SAID, sentence, (), ["give the pin of what serves here, or the log of what the pin is for"])
    elif signs.verified.standing is Standing.UNKNOWN:
        missing = dict.fromkeys(words for server in servers for words in server.missing)
        ask = f"ask the server itself: attnpin verify {signs.named} --url http://HOST:PORT"
        sentence = "whether the server took the pin is not to be told"
        yield cause(Kind.UNKNOWN, Ground.NOTHING, sentence, [Proof(words) for words in missing], [ask])


def _ground(signs: Signs, differing: Sequence[tuple[Difference, Server]]) -> Ground:
    """What was so before decode got slower is not why it did."""
    pace = signs.load.pace if signs.load else None
    slowed = pace is not None and pace.restarted and pace.ratio > SLOWER
    older = all(each.since != server.start.began for each, server in differing)
    return Ground.MOVED if slowed and older else Ground.SAID


def _not_as_pinned(signs: Signs, others: Sequence[Difference], ground: Ground) -> Cause:
    said = "; ".join(dict.fromkeys(f"{each.what} {each.found} instead of {each.pinned}" for each in others))
    proofs = [Proof(_words(each), each.said or each.since) for each in others]
    proofs += [Proof(note) for server in signs.verified.servers for note in server.start.notes]
    flags = wording.flags(signs.pin.flags)
    start = f"start it with the pin: attnpin launch {signs.named} -- CMD"
    take = f"take what the pin was decided against out of its command{f', which sets {flags}' if flags else ''}"
    pages = [OUTSIDE.format(found=each.found, pinned=each.pinned) for each in others if each.what == PAGE_SIZE]
    return cause(Kind.NOT_AS_PINNED, ground, f"the server does not run what was pinned: {said}", _once(proofs), [start, *pages, take])


def _words(each: Difference) -> str:
    before = ", as pinned before" if each.before else ""
    since = f", since {each.since.where}" if each.since else ""
    return f"{each.what}: {each.found} instead of {each.pinned}{since}{before}: {each.cause}"


def _graphs_off(signs: Signs, graphs: Difference, ground: Ground) -> Cause:
    sentence = f"decode is {graphs.found} as graphs and was pinned {graphs.pinned}: {NOT_COMPARABLE}; attention is not to blame for that"
    return cause(Kind.GRAPHS_OFF, ground, sentence, [Proof(graphs.cause, graphs.said)], [signs.remedies.graphs_on])


def _other_questions(signs: Signs, servers: Sequence[Server]) -> Iterator[tuple[str, Quote | None]]:
    engine = signs.run.scenario.engine
    pinned = {
        "tensor parallel": str(engine.tensor_parallel),
        "speculation": engine.speculation.algorithm or "none",
        "deterministic": "yes" if "deterministic" in engine.features else "no",
    }
    for server in servers:
        for what, found in server.start.asked:
            if what in pinned and found.lower() != pinned[what].lower():
                yield f"{what} {found} instead of {pinned[what]}", server.start.began


def _overrides(servers: Sequence[Server]) -> Iterator[str]:
    keys = {"tensor parallel": "engine.tensor_parallel={}", "speculation": "engine.speculative.algorithm={}"}
    for server in servers:
        for what, found in server.start.asked:
            if what == "deterministic":
                yield from ["'engine.features=[deterministic]'"] if found == "yes" else []
            elif what in keys and found != "none":
                yield keys[what].format(found)


def _once(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    """Both phases in one where the same is said of them."""
    found: dict[tuple[str, Quote | None], Proof] = {}
    for each in proofs:
        bare = each.words.removeprefix(f"{PREFILL}: ").removeprefix(f"{DECODE}: ")
        found.setdefault((bare, each.said), each)
    return tuple(found.values())
