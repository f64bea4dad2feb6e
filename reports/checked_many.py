"""The answers to many pins, one line each: for a terminal, and as a page that leads to their justifications."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reports import wording
from reports.page import Table, clean, text_table
from reports.web.page import Dress
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict

HEADER = ("pin", "answer", "exit", "because")
MOST_CHARACTERS = 100  # of a sentence in a terminal

Answered = Checked | Verdict


def render_text(answers: Sequence[Answered]) -> str:
    """What follows the answers themselves."""
    rows = tuple((pin, answer, code, _cut(why)) for pin, answer, code, why in map(_row, answers))
    return f"{text_table(Table(HEADER, rows), indent='')}\n\n{counts(answers)}\n"


def render_html(answers: Sequence[Answered], folder: Path) -> str:
    """A page that lies in ``folder``."""
    from reports.web.html import render
    from reports.web.list_page import list_page

    dresses = tuple(Dress("" if each.exit_code == 0 else "bad", 0, _page(each, folder)) for each in answers)
    return render(list_page("Pins", counts(answers), (), Table(HEADER, tuple(map(_row, answers))), dresses))


def counts(answers: Sequence[Answered]) -> str:
    found = Counter(_answer(each) for each in answers)
    return f"{wording.count(len(answers), 'pin')}: " + ", ".join(f"{count} {answer}" for answer, count in found.most_common())


def _row(found: Answered) -> tuple[str, ...]:
    return str(found.pin), _answer(found), str(found.exit_code), clean(found.sentence)


def _answer(found: Answered) -> str:
    return found.answer.value if isinstance(found, Checked) else found.status.value


def _page(found: Answered, folder: Path) -> str:
    return os.path.relpath(Path(str(found.pin)).with_suffix(".md"), folder)


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= MOST_CHARACTERS else sentence[: MOST_CHARACTERS - 3] + "..."
