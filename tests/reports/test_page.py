from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reports import page
from reports.page import Command, Section, Table


def test_a_table_in_text_is_aligned_and_ends_without_blanks() -> None:
    shown = page.text_table(Table(("arm", "time"), (("fa3/p1", "1 us"), ("a", ""))), indent="")
    assert shown == "arm     time\nfa3/p1  1 us\na"


def test_a_section_folds_in_markdown_and_shows_its_command_as_code() -> None:
    shown = page.markdown(Section("Title", ("a sentence", Command("attnpin plan"), Table(("a",), (("b|c",),)))))
    assert shown.startswith("<details><summary>Title</summary>\n\na sentence\n\n```sh\nattnpin plan\n```\n\n| a |\n| --- |\n| b\\|c |")
    assert shown.endswith("\n\n</details>")


def test_kernel_names_keep_their_signs_in_markdown() -> None:
    assert page.escaped("void f<__nv_bfloat16>(P*) & g_h") == "void f&lt;\\__nv_bfloat16&gt;(P\\*) &amp; g_h"


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_no_text_breaks_a_markdown_row(cells: list[str]) -> None:
    row = page.markdown(Section("t", (Table(("a", "b"), (tuple(cells),)),))).splitlines()[-3]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


@given(st.text())
def test_a_cleaned_text_is_one_printable_line(text: str) -> None:
    shown = page.clean(text)
    assert shown.isprintable() and shown == shown.strip()


def test_absolute_paths_do_not_get_into_a_report() -> None:
    assert page.clean("in /home/alice/x/nn.py\nline 3") == "in .../nn.py line 3"
