from __future__ import annotations

import pytest

from tuner.errors import UsageError
from tuner.ownership import refuse_foreign_modules


@pytest.mark.parametrize("owners", [{}, {"conf": ["attnpin"], "tuner": ["attnpin"]}, {"yaml": ["PyYAML"]}])
def test_names_that_are_ours_alone_pass(owners):
    refuse_foreign_modules(owners)


def test_a_name_that_someone_else_installed_too_is_refused_with_the_owner():
    with pytest.raises(UsageError, match="module 'conf' also belongs to django-starter; install attnpin into an environment of its own"):
        refuse_foreign_modules({"conf": ["attnpin", "django-starter"]})


def test_this_environment_has_no_foreign_owner():
    refuse_foreign_modules()
