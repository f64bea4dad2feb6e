from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.comparing.env import Env, env_of
from tuner.errors import UsageError


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("present", Env("present")),
        ("/opt/new/bin/python", Env("/opt/new/bin/python", command=("/opt/new/bin/python",))),
        ("path:/a:/b", Env("path:/a:/b", folders=("/a", "/b"))),
        ("flashinfer-python==0.6.4", Env("flashinfer-python==0.6.4", packages=("flashinfer-python==0.6.4",))),
        ("triton==3.6.0,x[y]==1+cu130", Env("triton==3.6.0,x[y]==1+cu130", packages=("triton==3.6.0", "x[y]==1+cu130"))),
        ("a==1, b==2", Env("a==1, b==2", packages=("a==1", "b==2"))),
        ("env A==1,b>=2 python3", Env("env A==1,b>=2 python3", command=("env", "A==1,b>=2", "python3"))),
        (
            "docker run -i --rm --gpus all new:1 python3",
            Env(
                "docker run -i --rm --gpus all new:1 python3", command=("docker", "run", "-i", "--rm", "--gpus", "all", "new:1", "python3")
            ),
        ),
        ("sh", Env("sh", command=("sh",))),  # a name that can be started is a command
        ("slowed:0.05", Env("slowed:0.05", slowed=0.05)),
        ("with:engine.version=0.5.8 a='b c'", Env("with:engine.version=0.5.8 a='b c'", overrides=("engine.version=0.5.8", "a=b c"))),
    ],
)
def test_an_environment_is_read_as_it_was_meant(said, meant):
    assert env_of(said) == meant


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "is empty"),
        ("path:", "names no folder"),
        ("a==1,b", "'b' in the environment 'a==1,b' is not name==version"),
        ("a==1,b>=2", "'b>=2'"),
        ("a>=1", "'a>=1' in the environment 'a>=1' is not name==version"),
        ("a == 1", "'a == 1'"),
        ("a_b==1,A-b==2", "names a-b twice"),
        ("with:", "names no setting"),
        ("slowed:", "names no share of 0.001 to 1"),
        ("slowed:5%", "write slowed:0.05"),
        ("slowed:nan", "names no share"),
        ("slowed:1.5", "names no share"),
        ("python 'x", "No closing quotation"),
        ("flashinfer-python", "no version of a distribution; write flashinfer-python==VERSION"),
        ("flashinfer-python=0.6.4", "no version of a distribution; write flashinfer-python==0.6.4"),
        ("flashinfer-python=", "write flashinfer-python==VERSION"),
        ("x[y]", "write x[y]==VERSION"),
    ],
)
def test_what_is_no_environment_is_refused_in_a_sentence_that_quotes_it(said, why):
    with pytest.raises(UsageError, match=why.replace("[", r"\[")):
        env_of(said)


@given(st.text(max_size=40))
def test_whatever_is_written_is_an_environment_or_refused(said):
    try:
        found = env_of(said)
    except UsageError:
        return
    assert found.said == said
