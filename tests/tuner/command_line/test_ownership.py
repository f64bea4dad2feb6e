from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tuner.command_line import ownership
from tuner.command_line.ownership import MODULES, refuse_foreign_modules
from tuner.errors import UsageError

LISTED = ("conf/__init__.py", "conf/extra/deep.py", "store.py", "reports/page.html", "other/tuner/__init__.py", "backends_of_mine.py")
FILES = "".join(f"{file},sha256=x,12\n" for file in LISTED)
OWNED = {"conf": ["django-starter"], "store": ["django-starter"]}


@pytest.mark.parametrize("owners", [{}, {"conf": ["attnpin"], "tuner": ["attnpin"]}, {"yaml": ["PyYAML"]}])
def test_names_that_are_ours_alone_pass(owners):
    refuse_foreign_modules(owners)


def test_a_name_that_someone_else_installed_too_is_refused_with_the_owner():
    with pytest.raises(UsageError, match="module 'conf' also belongs to django-starter; install attnpin into an environment of its own"):
        refuse_foreign_modules({"conf": ["attnpin", "django-starter"]})


def test_this_environment_has_no_foreign_owner():
    refuse_foreign_modules()


@pytest.mark.parametrize(("file", "text"), [("RECORD", FILES), ("top_level.txt", "conf\nstore\nother\nbackends_of_mine\n")])
def test_whose_a_module_is_is_read_as_python_reads_it(file, text, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "django_starter-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: django-starter\nVersion: 1.0\n")
    (folder / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(ownership, "_installed", ownership._installed.__wrapped__)
    python_s = packages_distributions()
    assert ownership._installed() == {module: python_s[module] for module in MODULES if module in python_s} == OWNED
