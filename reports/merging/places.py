"""Where in a file of the user's a launcher's flags stand: every place that fits, from which one is to be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from reports.launchers.entries import Form, Place
from reports.launchers.started import started
from reports.merging.documents import children, composed, shared
from reports.merging.errors import MergeError
from reports.merging.words import flags, words_of

ANY = "*"
MODEL_FLAGS = {"sglang": "model-path", "vllm": "model"}  # by engine; SGLang takes the other too, and so does much else


@dataclass(frozen=True)
class Found:
    """``label`` is its keys with dots between ("services.sglang.command"), "" = the whole document; ``node`` None = an empty one.
    ``shown``: whether it can be seen that flags of the engine belong there; ``own``: whether it stands in no anchor that something
    refers to."""

    label: str
    form: Form
    node: Node | None
    shown: bool = True
    own: bool = True


def chosen(text: str, places: Sequence[Place], engine: str, at: Sequence[str]) -> tuple[Found, ...]:
    """Those that ``at`` names, else the only one that fits. Raises `MergeError`, naming what there is."""
    found = list(_found(text, places, engine))
    if unknown := [label for label in at if label not in [each.label for each in found]]:
        _refuse_strings(text, places, engine, at)
        raise MergeError(f"has no place {unknown[0]} for flags; {_which(found)}")
    its = [each for each in found if each.label in at] if at else _shown(found)
    if not its:
        _refuse_strings(text, places, engine, ())
        wanted = " or ".join(dict.fromkeys(".".join(place.at) or "a mapping" for place in places))
        raise MergeError(f"has no place for flags of {engine}, as {wanted} would be; export the pin as a file of its own")
    if len(its) > 1 and not at:
        raise MergeError(f"has several places for flags, and ranks that disagree would not start; {_which(found)}")
    if lent := [each.label for each in its if not each.own]:
        raise MergeError(f"has {lent[0]} in an anchor that is used elsewhere too; write it out")
    return tuple(its)


def _shown(found: Sequence[Found]) -> list[Found]:
    """Of a container's command and the args that go on with it the args, where no flag stands in the command yet."""
    args = {each.label for each in found if each.label.endswith(".args") and each.shown}
    bare = {each.label for each in found if each.label.endswith(".command") and not flags(each.node)}
    goes_on = {label for label in bare if f"{label.removesuffix('.command')}.args" in args}
    return [each for each in found if each.shown and each.label not in goes_on]


def _which(found: Sequence[Found]) -> str:
    labels = ", ".join(dict.fromkeys(each.label for each in _shown(found) or found))
    return f"name one or more with --at: {labels}" if labels else "there is none in it"


def _found(text: str, places: Sequence[Place], engine: str) -> Iterator[Found]:
    documents = composed(text)
    elsewhere = shared(documents)
    for number, root in enumerate(documents, 1):
        before = f"{number}:" if len(documents) > 1 else ""
        for place in places:
            for path, node, own in _reached(root, place.at, elsewhere):
                if _fits(text, place.form, node, engine):
                    label = before + ".".join(path)
                    yield Found(label, place.form, node, place.form is not Form.WORDS or _is_shown(node, engine), own)


def _refuse_strings(text: str, places: Sequence[Place], engine: str, at: Sequence[str]) -> None:
    """Raises `MergeError` for a command of the engine's that is a string and no list, at one of ``at`` (empty = anywhere)."""
    for root in composed(text):
        for place in (place for place in places if place.form is Form.WORDS):
            for path, node, _ in _reached(root, place.at, frozenset()):
                label = ".".join(path)
                if isinstance(node, ScalarNode) and started(str(node.value).split()) == engine and (not at or label in at):
                    raise MergeError(
                        f"has {label} in one string, where a flag has no line for its reason; write it as a list, a word a line"
                    )


def _reached(node: Node | None, at: Sequence[str], elsewhere: frozenset[int]) -> Iterator[tuple[tuple[str, ...], Node | None, bool]]:
    """(path, node, whether it stands in no anchor that something refers to)."""
    own = id(node) not in elsewhere
    if not at:
        yield (), node, own
        return
    for name, child in children(node):
        if at[0] in (ANY, name):
            for path, found, its in _reached(child, at[1:], elsewhere):
                yield (name, *path), found, own and its


def _fits(text: str, form: Form, node: Any, engine: str) -> bool:
    if form is Form.WORDS:
        return isinstance(node, SequenceNode) and started(words_of(node)) in (None, engine)
    if form is Form.TEXT:
        return isinstance(node, ScalarNode) and node.style == "|" and is_yaml(text[body(text, node) : node.end_mark.index])
    return node is None or isinstance(node, MappingNode)


def _is_shown(node: Any, engine: str) -> bool:
    """A command of the engine's, a script that has one, or the arguments of one whose command is the image's."""
    words = words_of(node)
    return engine in (started(words), *map(started, map(str.split, words))) or MODEL_FLAGS.get(engine) in flags(node)


def body(text: str, node: ScalarNode) -> int:
    """Where the lines of a block of text begin."""
    return text.index("\n", node.start_mark.index) + 1


def is_yaml(text: str) -> bool:
    """A mapping, or comments alone; a script or another program's file is neither."""
    try:
        (root, *others) = composed(text)
    except MergeError:
        return False
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    comments = lines and all(line.startswith("#") for line in lines)
    return not others and (isinstance(root, MappingNode) or bool(comments))
