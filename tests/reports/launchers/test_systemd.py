from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from reports.launchers import systemd
from reports.launchers.launcher import ExportError
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import PIECES, pins
from tests.reports.launchers.systemd_readers import drop_in, words_of
from tuner.exporting.launchers import load_launchers

SYSTEMD = load_launchers()["systemd"]
UNIT = "[Service]\nExecStart=/bin/true serve --model-path M $ATTNPIN_ARGS\n"


def flags_read(text: str) -> list[str]:
    return words_of(drop_in(text)["ATTNPIN_ARGS"])


def test_a_unit_takes_the_flags_in_as_words() -> None:
    text = systemd.render(building.pin(), SYSTEMD)
    assert flags_read(text) == ["--decode-attention-backend=flashinfer", "--prefill-attention-backend=fa3"]
    assert f"# --decode-attention-backend: {building.BECAUSE}\n" in text


def test_a_pin_that_sets_nothing_adds_no_word() -> None:
    text = systemd.render(building.pin(building.kept()), SYSTEMD)
    assert flags_read(text) == [] and "# unset, because with the best arm a step is at most 0.42 % faster\n" in text


@given(pins())
def test_what_systemd_would_read_otherwise_is_refused_and_the_rest_is_read_back(pin: Pin) -> None:
    try:
        text = systemd.render(pin, SYSTEMD)
    except ExportError as error:
        assert "cannot stand unquoted in a unit of systemd; export it with --to sglang" in str(error)
    else:
        assert list(drop_in(text)) == ["ATTNPIN_ARGS"]
        assert flags_read(text) == [f"--{name}={value}" for name, value in pin.flags]


@pytest.mark.parametrize("value", ["a b", "%n", "a\\", '"', "'", "$X", "", "é", "a\nExecStart=/bin/sh"])
def test_a_value_that_needs_quotes_is_refused(value: str) -> None:
    with pytest.raises(ExportError, match="cannot stand unquoted in a unit of systemd"):
        systemd.render(replace(building.pin(), flags=(("kv-cache-dtype", value),)), SYSTEMD)


def verified(folder: Path, text: str) -> str:
    """What `systemd-analyze verify` has to say of the unit with the drop-in; skips where there is none."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze on PATH")
    drop = folder / "served.service.d" / "attnpin.conf"
    drop.parent.mkdir(exist_ok=True)
    (folder / "served.service").write_text(UNIT)
    drop.write_text(text, encoding="utf-8")
    done = subprocess.run([analyze, "verify", "--man=no", str(folder / "served.service")], capture_output=True, text=True, timeout=60)
    return done.stderr


def test_systemd_itself_has_nothing_against_it(tmp_path: Path) -> None:
    hostile = "".join(PIECES) * 20 + "\\"
    pin = replace(building.pin(), because=(("decode-attention-backend", hostile),), run=hostile)
    assert "attnpin.conf" not in verified(tmp_path, systemd.render(pin, SYSTEMD))


def test_systemd_looks_at_the_drop_in(tmp_path: Path) -> None:
    assert "attnpin.conf" in verified(tmp_path, systemd.render(building.pin(), SYSTEMD) + "Environmint=x\n")
