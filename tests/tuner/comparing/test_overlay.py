"""Other versions laid over an environment: in a folder of their own, from wheels, with what they miss said."""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from backends.driver import Refused
from backends.worker import home, installer, overlay
from tuner.comparing.overlay import unmet_by


def wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    """A wheel with one module that knows its version."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + (f"Requires-Dist: {requires}\n" if requires else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_hash(text)},{len(text)}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def _hash(text: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder, "kernels_of_ours", "1.2", "pytest>=1000; python_version > '3'")
    return folder


def test_a_wheel_is_laid_into_a_folder_of_its_own_once(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home.SCRATCH, str(tmp_path))
    said: list[str] = []
    found = overlay.built(["kernels_of_ours==1.2"], str(wheels), said.append)
    assert (Path(found["folder"]) / "kernels_of_ours.py").read_text() == "version = '1.2'\n"
    assert found["distributions"] == [("kernels_of_ours", "1.2", ["pytest>=1000; python_version > '3'"])] and said
    monkeypatch.setattr(overlay, "_install", None)
    assert overlay.built(["kernels_of_ours==1.2"], str(wheels), said.append)["folder"] == found["folder"]
    assert [each.name for each in Path(found["folder"]).parent.iterdir()] == [Path(found["folder"]).name]


def test_a_wheel_that_was_built_anew_under_its_old_name_is_laid_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home.SCRATCH, str(tmp_path / "scratch"))
    monkeypatch.setattr(overlay, "_install", lambda *_: None)
    places = []
    for requires in ("", "numpy"):
        wheel(tmp_path, "kernels", "1.2", requires)
        places.append(overlay.built(["kernels==1.2"], str(tmp_path), lambda text: None)["folder"])
    assert places[0] != places[1]
    monkeypatch.chdir(tmp_path)
    assert overlay.built(["kernels==1.2"], ".", lambda text: None)["folder"] == places[1]


def test_beside_a_folder_of_wheels_no_other_one_is_searched(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one that a variable names, nor one of a configuration file."""
    (offered := tmp_path / "elsewhere").mkdir()
    wheel(offered, "kernels_of_ours", "7")
    (configured := tmp_path / "pip.conf").write_text(f"[global]\nfind-links = {offered}\n")
    monkeypatch.setenv(home.SCRATCH, str(tmp_path / "scratch"))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configured))
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))
    with pytest.raises(Refused, match="kernels_of_ours==7 cannot be laid over what is installed"):
        overlay.built(["kernels_of_ours==7"], str(wheels), lambda text: None)


def test_what_cannot_be_installed_says_why_and_leaves_nothing(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home.SCRATCH, str(tmp_path))
    with pytest.raises(Refused, match="kernels_of_ours==9 cannot be laid over what is installed: .*kernels"):
        overlay.built(["kernels_of_ours==9"], str(wheels), lambda text: None)
    assert list((tmp_path / overlay.FOLDER).iterdir()) == []


def test_of_a_chain_of_causes_what_failed_and_the_last_of_them_is_said() -> None:
    causes = ("error sending request for url (https://index.example/simple/kernels/)", "client error (Connect)", "dns error: no such name")
    lines = [
        "Using Python 3.12",
        "error: Failed to fetch: `https://index.example/simple/kernels/`",
        *(f"  Caused by: {each}" for each in causes),
    ]
    assert installer.last_words(lines) == "Failed to fetch: `https://index.example/simple/kernels/`: dns error: no such name"
    assert installer.last_words(lines[-2:]) == "dns error: no such name"


def test_a_folder_of_wheels_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home.SCRATCH, str(tmp_path))
    with pytest.raises(Refused, match="--wheels .*missing is no folder where the worker runs"):
        overlay.built(["a==1"], str(tmp_path / "missing"), lambda text: None)


def test_a_requirement_that_is_not_met_is_said_and_one_that_is_not_asked_for_is_not() -> None:
    laid = [("flashinfer-python", "0.7.1", ["torch>=2.9", "Apache_TVM.FFI==0.1.9", "nvidia-cudnn-frontend", "x; extra == 'cupti'", "?!"])]
    installed = {"torch": "2.11.0+cu130", "apache-tvm-ffi": "0.1.5", "flashinfer-python": "0.7.1"}
    assert [sentence.partition(";")[0] for sentence in unmet_by(laid, installed, "3.12.3")] == [
        "flashinfer-python 0.7.1 requires Apache_TVM.FFI==0.1.9, and 0.1.5 is installed there",
        "flashinfer-python 0.7.1 requires nvidia-cudnn-frontend, which is not installed there",
    ]


def test_a_requirement_holds_by_the_python_that_serves_and_not_by_ours() -> None:
    laid = [("kernels", "1.2", ["tomli; python_version < '3.11'", "typing-extensions; python_full_version >= '3.12.1'"])]
    missing = [[sentence.split()[3].rstrip(";") for sentence in unmet_by(laid, {}, python)] for python in ("3.10.12", "3.12.0", "3.12.3")]
    assert missing == [["tomli"], [], ["typing-extensions"]]
