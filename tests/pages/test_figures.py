from __future__ import annotations

import pytest

from tests.pages.figures import measured, renewed

VALUES = {"a/b": 123.64, "a/c": 242.0, "a/c / a/b - 1": 0.9573, "a/n": 64}
PAGE = """\
# Times

| cell | fa3 | flashinfer |
|---|---|---|
| decode | 123.6 | 242 us |

<!-- figures
123.6  a/b
242    a/c
-->

FlashInfer is 96 % behind on 64 requests.

<!-- figures
96 %  a/c / a/b - 1
64    a/n
-->

    attnpin tune  # takes 3 s
"""


def problems(page: str) -> tuple[str, ...]:
    return renewed(page, VALUES.__getitem__).problems


def test_a_page_that_says_what_its_sources_say_stays_as_it_is() -> None:
    assert problems(PAGE) == ()
    assert renewed(PAGE, VALUES.__getitem__).text == PAGE


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("123.6 ", "123.5 ", "123.5 is 123.6 by a/b"),
        ("242", "241", "241 is 242 by a/c"),
        ("96 %", "95 %", "95 % is 96 % by a/c / a/b - 1"),
    ],
)
def test_a_figure_that_differs_is_said_and_made_right_in_text_and_comment(right: str, wrong: str, said: str) -> None:
    page = PAGE.replace(right, wrong)
    found = renewed(page, VALUES.__getitem__)
    assert found.problems == (said,)
    assert found.text == PAGE


def test_a_text_that_differs_from_its_own_comment_is_said() -> None:
    assert problems(PAGE.replace("| 123.6 |", "| 123.9 |")) == (
        "123.6 is cited but does not stand in the text above, or not in this order",
        "123.9 cites nothing",
    )


def test_figures_out_of_order_are_said() -> None:
    swapped = PAGE.replace("96 %  a/c / a/b - 1\n64    a/n\n", "64    a/n\n96 %  a/c / a/b - 1\n")
    assert problems(swapped)[0].startswith("96 % is cited but does not stand")


@pytest.mark.parametrize("figure", ["1.96 times", "3 %", "12 us", "4.5 ms", "107 GiB", "60 s"])
def test_on_a_page_that_cites_whatever_looks_measured_cites(figure: str) -> None:
    assert problems(f"{PAGE}\nIt takes {figure}.\n") == (f"{figure.split()[0]} cites nothing",)
    assert problems(f"It takes {figure}.\n") == ()


def test_a_figure_is_no_part_of_a_longer_number() -> None:
    page = "Takes 1123.64 or 123.6.\n\n<!-- figures\n123.6  a/b\n-->\n"
    assert problems(page) == ()
    assert renewed(page.replace("123.6", "123.4"), VALUES.__getitem__).text == page.replace("1123.64", "1123.44")


def test_code_versions_and_counts_do_not_look_measured() -> None:
    text = "SGLang 0.5.16 on 64 requests of `12 us`\n\n    takes 3 s\n\n```\n4 %\n```\n| torch 2.11 | 0.5.16 |\n"
    assert list(measured(text)) == ["2.11"]


def test_a_line_that_is_no_citation_is_refused() -> None:
    with pytest.raises(SyntaxError, match="a figure and its citation, not 'some words'"):
        renewed("Takes 123.6.\n\n<!-- figures\nsome words\n-->\n", VALUES.__getitem__)
