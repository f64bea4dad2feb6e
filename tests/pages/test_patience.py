from __future__ import annotations

import re

from tests.docs import DOCS
from tuner.settings import compose
from tuner.spans import seconds_of


def test_the_page_shows_every_patience_with_its_default() -> None:
    page, patience = (DOCS / "inconclusive.md").read_text(), compose([]).patience
    shown = {f"{work}_s": seconds_of(span, work) for work, span in re.findall(r"\| `patience\.(\w+)` \| (\w+) \|", page)}
    assert shown == vars(patience)
