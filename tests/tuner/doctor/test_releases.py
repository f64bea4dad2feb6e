from __future__ import annotations

import pytest

from backends.condition import Installed
from tests.tuner.doctor.patients import environment, found, installed, only, patient


@pytest.mark.parametrize("version", ["0.6.15.post1", "0.6.14", "0.6.16", "0.6.150"])
def test_neighbours_of_a_withdrawn_release_are_not_told(version: str) -> None:
    assert found(patient(*installed(flashinfer_python=version))) == {}


@pytest.mark.parametrize("version", ["0.6.15", "0.6.15+cu130"])
def test_a_local_tag_does_not_hide_a_withdrawn_release(version: str) -> None:
    finding = only(patient(*installed(flashinfer_python=version)))
    assert finding.what == f"flashinfer-python {version} was taken back" and finding.remedy.startswith("install 0.6.14, or 0.6.16")


@pytest.mark.parametrize(("sm", "told"), [(103, True), (100, False), (90, False), (None, False)])
def test_a_fault_of_one_architecture_is_told_there_alone(sm: int | None, told: bool) -> None:
    assert bool(found(patient(*installed(flashinfer_python="0.6.14"), on=environment(sm=sm)))) is told


@pytest.mark.parametrize("version", ["0.1.8", "0.1.13.post1", "0.1.15.post0"])
def test_releases_withdrawn_from_the_index_are_told(version: str) -> None:
    assert "withdrew it from PyPI" in only(patient(*installed(apache_tvm_ffi=version))).why


def test_a_hidden_copy_of_a_withdrawn_release_is_not_judged() -> None:
    hidden = Installed("apache-tvm-ffi", "0.1.8", "/usr/lib/python3/dist-packages")
    assert found(patient(*installed(apache_tvm_ffi="0.1.11"), hidden)) == {}
    assert only(patient(hidden, *installed(apache_tvm_ffi="0.1.11"))).rule == "version-withdrawn"
