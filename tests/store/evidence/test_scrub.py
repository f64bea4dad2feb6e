from __future__ import annotations

import getpass
import socket
from dataclasses import replace

import pytest

from backends.measured import Trial
from backends.outcome import Outcome
from backends.wire import to_plain
from store.digest import canonical
from store.evidence.scrub import private_names, scrubbed, without_names, without_paths, without_places
from store.runs.run import Run
from tests.store.building import a_decision, a_run, all_trials


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("signal 11 in /opt/venv/lib/libx.so.2", "signal 11 in .../libx.so.2"),
        ("/home/anna", "~"),
        ("/home/anna/cache/", ".../cache"),
        ("'/a/b c.py' and \"/d/e.py\"", "'.../b c.py' and \".../e.py\""),
        ("LD_LIBRARY_PATH=/opt/a:/opt/b", "LD_LIBRARY_PATH=.../a:.../b"),
        ("gcc -I/usr/include -L/usr/lib", "gcc -I.../include -L.../lib"),
        ("sqlite:////home/anna/x.sqlite", ".../x.sqlite"),
        ("file:///data/x", ".../x"),
        ("[/opt/bin/python3,-P]", "[.../python3,-P]"),
        (".../x.py", ".../x.py"),
    ],
)
def test_an_absolute_path_keeps_its_last_name(text: str, expected: str) -> None:
    assert without_paths(text) == expected
    assert without_paths(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "fa3/p1,chunk=64",
        "tokens/s",
        "https://github.com/sgl-project/sglang/issues/17411",
        "sglang/srt/server_args.py, _handle, 0.5.16",
        "a / b",
        "void cutlass::device_kernel<flash::enable_sm90<4/2>>",
        "</details>",
    ],
)
def test_a_slash_that_begins_no_path_is_left_alone(text: str) -> None:
    assert without_paths(text) == text


def test_a_name_goes_only_as_a_whole_word() -> None:
    assert (
        without_names("gpu07 said: anna@gpu07.example.net, susanna", ["anna", "gpu07.example.net", "gpu07"]) == "... said: ...@..., susanna"
    )
    assert without_names("nothing to hide", []) == "nothing to hide"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("attnpin tune model=tiny", "attnpin tune model=tiny"),
        (
            "attnpin tune 'engine.command=[ssh, host, python3]' store.url=postgresql://u:p@h/d",
            "attnpin tune engine.command=COMMAND store.url=URL",
        ),
        ("attnpin tune model=hf model.path=Meta/Llama", "attnpin tune model=hf model.path=CHECKPOINT"),
        ("attnpin tune traffic=trace traffic.path=/home/anna/requests.csv", "attnpin tune traffic=trace traffic.path=FILE"),
        ("attnpin tune pin.path=/home/anna/pins/pin.yaml +engine.path=[/opt/x]", "attnpin tune pin.path=.../pin.yaml +engine.path=PATH"),
        ("attnpin tune --config-dir /home/anna/conf", "attnpin tune --config-dir DIR"),
        ("attnpin tune 'unbalanced /home/anna/x", "attnpin tune 'unbalanced .../x"),
    ],
)
def test_a_command_can_be_repeated_without_its_places(command: str, expected: str) -> None:
    assert without_places(command) == expected


def telling_run() -> Run:
    """A run that tells where it was made wherever a machine or a user wrote the text."""
    run = a_run()
    crash = Trial("fa3/p1", "decode_1", Outcome.CRASHED, "on gpu07.example.net as anna: /home/anna/lib/x.so: undefined symbol")
    return replace(run, trials=(all_trials(run)[0], crash), decision=a_decision(run))


def test_nothing_of_the_place_is_left_in_a_run() -> None:
    run = telling_run()
    names = private_names(run.scenario.engine)
    assert {"anna", "gpu07.example.net"} <= names
    left = canonical(to_plain(scrubbed(run, names)))
    assert not [word for word in ("anna", "gpu07", "/home", "/opt/venv") if word in left]


def test_what_the_run_measured_is_left_as_it_was() -> None:
    run = telling_run()
    public = scrubbed(run, private_names(run.scenario.engine))
    assert public.scenario.engine.command == ("ssh", "...", ".../python3")
    assert public.scenario.engine.path == (".../sglang-0.5.16",)
    assert public.environment.variables == (("FLASHINFER_WORKSPACE_BASE", ".../cache"),)
    assert public.trials[1].detail == "on ... as ...: .../x.so: undefined symbol"
    kept = ("arms", "cells", "exclusions", "rounds", "decision", "digest", "default", "wall_seconds")
    assert [getattr(public, name) for name in kept] == [getattr(run, name) for name in kept]


def test_to_scrub_twice_is_to_scrub_once() -> None:
    run = telling_run()
    once = scrubbed(run, private_names(run.scenario.engine))
    assert scrubbed(once, private_names(once.scenario.engine)) == once


def test_the_names_of_this_account_and_host_are_private_unless_they_are_no_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "berta")
    monkeypatch.setattr(socket, "gethostname", lambda: "node7.cluster")
    local = replace(a_run().scenario.engine, command=("python3",))
    assert private_names(local) == {"berta", "node7.cluster", "node7"}
    monkeypatch.setattr(getpass, "getuser", lambda: "root")
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    assert private_names(local) == frozenset()


def test_an_account_without_a_name_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert "" not in private_names(a_run().scenario.engine)
