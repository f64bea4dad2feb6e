"""Merging into any YAML that somebody may have written."""

from __future__ import annotations

import string
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from reports.launchers.entries import Form
from reports.launchers.launcher import Launcher
from reports.merging.errors import Conflicts
from reports.merging.merge import merge
from store.pins.pin import Pin
from tests.reports.merging.merging import DECODE, PAGE, PREFILL, launcher, pin

NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=6)
BLANKS = st.sampled_from(["", " ", "   "])
COMMENTS = st.text(string.ascii_letters + " #:'\"-", max_size=12).map(lambda text: f"#{text}")
SCALARS = st.sampled_from(["1", "0x1F", "yes", "'it''s'", '"a # b"', "a b", "~", "fa3", "'64'", "https://x/y", "", "!!str 1"])
LATER = st.lists(st.sampled_from([(DECODE, "triton"), (PREFILL, "fa4"), (PAGE, "16")]), unique=True).map(tuple)


@st.composite
def lines(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """A block mapping at a depth of two columns each, commented at random."""
    found: list[str] = []
    for name in draw(st.lists(NAMES, unique=True, min_size=1, max_size=4)):
        blanks = "  " * depth
        found += draw(st.lists(st.one_of(COMMENTS.map(lambda text: "  " + text), st.just("")), max_size=2))
        kind = draw(st.sampled_from(["scalar", "mapping", "list", "flow", "text"] if depth < 2 else ["scalar"]))
        tail = draw(BLANKS) + draw(st.one_of(st.just(""), COMMENTS.map(lambda text: " " + text)))
        if kind == "scalar":
            found.append(f"{blanks}{name}: {draw(SCALARS)}{tail}")
        elif kind == "flow":
            found.append(f"{blanks}{name}: [a,  {{b: 'c'}}]{tail}")
        elif kind == "text":
            found += [f"{blanks}{name}: |{tail}", f"{blanks}   # no comment", f"{blanks}   x: y"]
        elif kind == "mapping":
            found += [f"{blanks}{name}:{tail}", *draw(lines(depth + 1))]
        else:
            found += [f"{blanks}{name}:{tail}", *(f"{blanks}- {each}" for each in draw(st.lists(NAMES, min_size=1, max_size=3)))]
    return found


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Whole files; each anchor stands in one."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    body = draw(lines())
    last = (
        end if body[-1].endswith("x: y") else draw(st.sampled_from(["", end]))
    )  # a text that ends with the file has no line end of its own
    return end.join([*draw(st.lists(COMMENTS, max_size=2)), *body, *draw(st.lists(COMMENTS, max_size=2))]) + last


KEYS = launcher()
read = YAML(typ="safe").load


def ours(before: str, after: str) -> list[str]:
    """The lines of ``after`` that are not of ``before``, which must all stand there in order and unchanged."""
    rest = iter(after.splitlines())
    added = []
    for line in before.splitlines():
        for found in rest:
            if found == line:
                break
            added.append(found)
        else:
            raise AssertionError(f"{line!r} is gone")
    return [*added, *rest]


@settings(max_examples=40)
@given(texts())
def test_every_line_of_the_file_stays_and_only_ours_are_added(before: str) -> None:
    after = merge(before, pin(), KEYS).text
    assert [line.partition(" ")[0] for line in ours(before, after)] == ["#", f"{DECODE}:", "#", f"{PAGE}:"]
    assert read(after) == {**(read(before) or {}), DECODE: "flashinfer", PAGE: 64}


@settings(max_examples=40)
@given(texts())
def test_twice_is_once(before: str) -> None:
    once = merge(before, pin(), KEYS)
    twice = merge(once.text, pin(), KEYS)
    assert (twice.text, twice.changes) == (once.text, ())


@settings(max_examples=40)
@given(texts(), LATER)
def test_a_later_pin_leaves_what_it_alone_would_have_left(before: str, flags: tuple[tuple[str, str], ...]) -> None:
    later = pin(flags)
    through, alone = merge(merge(before, pin(), KEYS).text, later, KEYS).text, merge(before, later, KEYS).text
    assert read(through) == read(alone)
    assert sorted(ours(before, through)) == sorted(ours(before, alone))


@settings(max_examples=40)
@given(texts(), st.sampled_from(["fa3", "'fa3'", '"fa3"']))
def test_a_conflict_names_the_key_and_to_replace_changes_its_value_alone(before: str, value: str) -> None:
    theirs = f"{DECODE}:  {value}   # by hand\n{before}"
    only = pin(((DECODE, "flashinfer"),))
    try:
        merge(theirs, only, KEYS)
    except Conflicts as error:
        (conflict,) = error.conflicts
        assert (conflict.key, conflict.theirs, conflict.ours) == (DECODE, "fa3", "flashinfer")
    else:
        raise AssertionError("no conflict")
    mark, rest = merge(theirs, only, KEYS, replace=True).text.split("\n", 1)
    assert mark.startswith("# attnpin r1 set flashinfer") and rest == theirs.replace("fa3", "flashinfer", 1)


WORDS = st.lists(st.sampled_from(["--tp 2", "M", '"2"', "--host=h", "'a # b'", "--tp-size", "- nested"]), max_size=5)


@settings(max_examples=30)
@given(WORDS, st.lists(COMMENTS, max_size=3), st.integers(0, 4), st.sampled_from(["\n", "\r\n"]))
def test_in_a_list_of_words_too_only_ours_are_added_and_taken_out(words: list[str], comments: list[str], depth: int, end: str) -> None:
    blanks = " " * depth
    beside = [*comments, *[""] * (len(words) + 2)]
    items = [f"{blanks}- {word}  {comment}".rstrip() for word, comment in zip(["sglang", "serve", *words], beside)]
    before = end.join(["s:", f"{' ' * 1}server: # a service", *(f" {item}" for item in items), "z: 1", ""])
    into = launcher(Form.WORDS, "s", "*")
    after = merge(before, pin(), into).text
    assert [line.split()[:2] for line in ours(before, after)] == [["#", "attnpin"], ["-", f"--{DECODE}"], ["-", "flashinfer"]] + [
        ["#", "attnpin"],
        ["-", f"--{PAGE}"],
        ["-", '"64"'],
    ]
    assert merge(after, pin(), into).text == after and merge(after, pin(()), into).text == before


@settings(max_examples=40)
@given(st.text(), st.text(), st.text(min_size=1))
def test_no_reason_run_or_value_breaks_out_of_its_line(reason: str, run: str, value: str) -> None:
    hostile = replace(pin(), run=run, flags=((PAGE, value),), because=((PAGE, reason),))
    after = _settled(hostile, KEYS)
    assert read(after).keys() == {"a", PAGE} and ours("a: 1", after)[0].startswith("# ")


def _settled(hostile: Pin, into: Launcher) -> str:
    after = merge("a: 1\n", hostile, into).text
    assert merge(after, hostile, into).text == after
    assert merge(after, pin(()), into).text == "a: 1\n"
    return after
