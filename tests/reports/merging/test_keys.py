from __future__ import annotations

import pytest

from reports.launchers.entries import Entry, Form
from reports.merging.errors import Conflicts, MergeError
from reports.merging.merge import merge
from tests.reports.merging.merging import DECODE, PAGE, launcher, marked, pin

KEYS = launcher()
OURS = f"{marked('flashinfer')}\n{DECODE}: flashinfer\n{marked('64')}\n{PAGE}: 64\n"
CONFIG = (
    Entry(("attention-config", "backend"), "FLASHINFER", None),
    Entry(("attention-config", "use_trtllm_attention"), False, "XQA is slower"),
)


def test_keys_are_added_below_the_last_one_and_nothing_else_moves() -> None:
    before = "# mine\nmodel-path:   'M'   # quoted\n\nlist:\n- a\n- b # c\n\n# the end\n"
    assert merge(before, pin(), KEYS).text == before.replace("b # c\n", f"b # c\n{OURS}")


@pytest.mark.parametrize("before", ["", "# comments alone\n", "a: 1\n", "---\na: 1\n", "a: |\n  text\n\n", "a:\n", "a: {b: [1]}\n"])
def test_what_follows_nothing_is_added_at_the_end(before: str) -> None:
    assert merge(before, pin(), KEYS).text == before + OURS


def test_a_file_without_a_last_line_end_gets_one() -> None:
    assert merge("a: 1", pin(), KEYS).text == f"a: 1\n{OURS}"


def test_lines_end_as_those_of_the_file_do() -> None:
    assert merge("\ufeffa: 1\r\n", pin(), KEYS).text == "\ufeffa: 1\r\n" + OURS.replace("\n", "\r\n")


def test_a_key_of_the_users_that_says_the_same_stays_the_users() -> None:
    before = f'{PAGE}: "64"  # asked for\n{DECODE}: flashinfer\n'
    found = merge(before, pin(), KEYS)
    assert (found.text, found.changes) == (before, ())
    assert merge(before, pin(()), KEYS).text == before


def test_a_key_of_the_users_that_says_otherwise_is_refused_with_both_values() -> None:
    with pytest.raises(Conflicts, match=f"{DECODE} is fa3 there and flashinfer in the pin; {PAGE} is 1 there and 64 in the pin"):
        merge(f"{PAGE}: 1\n{DECODE}: fa3\n", pin(), KEYS)


@pytest.mark.parametrize(("written", "after"), [("1", "64"), ("'1'", "'64'"), ('"1"', '"64"')])
def test_to_replace_keeps_quotes_and_comment(written: str, after: str) -> None:
    found = merge(f"{PAGE}: {written}   # small\n", pin(((PAGE, "64"),)), KEYS, replace=True)
    assert found.text == f"{marked('64')}\n{PAGE}: {after}   # small\n"
    assert [(change.before, change.after) for change in found.changes] == [("1", "64")]


def test_what_attnpin_wrote_follows_the_pin_without_being_asked() -> None:
    written = merge("a: 1\n", pin(), KEYS).text
    later = merge(written, pin(((DECODE, "triton"), (PAGE, "64"))), KEYS)
    assert later.text == written.replace("flashinfer", "triton")
    assert [(change.key, change.before, change.after) for change in later.changes] == [(DECODE, "flashinfer", "triton")]


def test_what_attnpin_wrote_and_the_pin_no_longer_says_is_taken_out() -> None:
    before = "a: 1\n# tail\n"
    assert merge(merge(before, pin(), KEYS).text, pin(()), KEYS).text == before


def test_a_value_that_somebody_changed_under_the_comment_is_theirs() -> None:
    changed = merge("", pin(), KEYS).text.replace(f"{DECODE}: flashinfer", f"{DECODE}: fa3")
    with pytest.raises(Conflicts, match=f"{DECODE} is fa3 there"):
        merge(changed, pin(), KEYS)
    assert f"{DECODE}: fa3\n" in merge(changed, pin(()), KEYS).text


def test_a_flag_that_is_neither_the_pins_nor_ours_stays_and_is_named() -> None:
    found = merge("kv-cache-dtype: fp8_e4m3\n", pin(()), KEYS)
    assert (found.text, found.strangers) == ("kv-cache-dtype: fp8_e4m3\n", (("kv-cache-dtype", "fp8_e4m3"),))


def test_keys_that_nest_are_added_with_the_mapping_or_into_it_and_go_with_it() -> None:
    nested = launcher(entries=CONFIG)
    whole = "attention-config:\n  # attnpin r1 set FLASHINFER\n  backend: FLASHINFER\n"
    whole += "  # attnpin r1 set false: XQA is slower\n  use_trtllm_attention: false\n"
    assert merge("model: M\n", pin(), nested).text == "model: M\n" + whole
    theirs = "attention-config:\n    flash_attn_version: 3 # mine\nmodel: M\n"
    into = merge(theirs, pin(), nested).text
    assert "3 # mine\n    # attnpin r1 set FLASHINFER\n    backend: FLASHINFER\n" in into
    for before, after in (("model: M\n", "model: M\n" + whole), (theirs, into)):
        assert merge(after, pin(), nested).text == after
        assert merge(after, pin(()), launcher(entries=())).text == before


def test_engines_take_underscores_for_dashes() -> None:
    with pytest.raises(Conflicts, match="page-size is 1 there"):
        merge("page_size: 1\n", pin(((PAGE, "64"),)), KEYS)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("{a: 1}\n", "in braces, which leave no room for a reason"),
        ("a: [1\n", "is no YAML that can be read"),
        ("a: 1\na: 2\n", "is no YAML that can be read"),
        ("- a\n", "has no place for flags of sglang"),
        (f"{PAGE}: &page 1\n", "with an anchor or a tag"),
        (f"{PAGE}: !!int 1\n", "with an anchor or a tag"),
        (f"x: &page 1\n{PAGE}: *page\n", "as an alias of another value"),
        (f"{PAGE}: >\n  1\n", "in lines of its own"),
        (f"{PAGE}:\n  1\n", "in lines of its own"),
        (f"{PAGE}:\n", "empty"),
        ("a: 1\rb: 2\r", "has a carriage return that ends no line as others do"),
        (f"{PAGE}: [1]\n", "has a list or mapping as page-size"),
        (f"a: |\n  # attnpin r1 set 1\n{PAGE}: 1\n", "cannot be edited without touching other keys"),
        ("a: |\n  a line end would be added to this", "cannot be edited without touching other keys"),
    ],
)
def test_what_cannot_be_edited_is_refused(before: str, why: str) -> None:
    with pytest.raises(MergeError, match=why):
        merge(before, pin(), KEYS, replace=True)


def test_a_value_that_comes_through_a_merge_key_is_a_conflict_too() -> None:
    before = "base: &base\n  page-size: 1\nserver:\n  <<: *base\n  tp: 2\n"
    server = launcher(Form.KEYS, "server")
    with pytest.raises(Conflicts, match=r"page-size is 1 there \(inherited\) and 64 in the pin"):
        merge(before, pin(((PAGE, "64"),)), server)
    found = merge(before, pin(((PAGE, "64"),)), server, replace=True)
    assert found.text == f"{before}  {marked('64')}\n  page-size: 64\n"
    assert merge(found.text, pin(()), server).text == before


def test_what_is_used_elsewhere_too_is_not_edited() -> None:
    with pytest.raises(MergeError, match="has server in an anchor that is used elsewhere too"):
        merge("server: &s\n  tp: 2\nother: *s\n", pin(), launcher(Form.KEYS, "server"))
