from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from backends.driver import FellBack, MissingPackage, Refused
from backends.sglang.capture import _Captured, _kept
from backends.sglang.context import MOST_WARNINGS, _Listener, _listening, imported
from backends.sglang.latent import PrefillLayer
from backends.sglang.resolved import check_class
from backends.sglang.torchvision_stub import install_if_needed
from backends.sglang.versions import names_for


@pytest.mark.parametrize(
    ("version", "used"),
    [("0.5.16.post1", (0, 5, 16)), ("0.5.17", (0, 5, 16)), ("0.5.21", (0, 5, 22)), ("0.6.0", (0, 5, 22)), ("0.4.9", (0, 5, 16))],
)
def test_an_unknown_version_is_driven_with_the_nearest_names(version: str, used: tuple[int, int, int]) -> None:
    assert used == names_for(version)[0].VERSION


def test_an_unknown_version_is_labelled() -> None:
    assert names_for("0.5.16")[1] is None
    label = names_for("0.5.19")[1]
    assert label is not None and "0.5.19" in label


def test_a_missing_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sglang", None)
    with pytest.raises(MissingPackage, match="module sglang cannot be imported"):
        imported("sglang")


def test_another_class_than_the_name_stands_for_is_a_fallback() -> None:
    with pytest.raises(FellBack, match="SimpleNamespace.*TritonAttnBackend"):
        check_class("triton", SimpleNamespace(), latent=False)


def test_torchvision_is_made_up_where_it_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if "torchvision" not in repr(finder)])
    monkeypatch.setattr("importlib.import_module", _does_not_load)
    install_if_needed()
    from torchvision.transforms import InterpolationMode, functional

    assert InterpolationMode.NEAREST is not InterpolationMode.BICUBIC
    assert functional.resize is not None
    for name in [name for name in sys.modules if name.startswith("torchvision")]:
        del sys.modules[name]


def _does_not_load(name: str) -> None:
    raise RuntimeError("operator torchvision::nms does not exist")


@pytest.mark.parametrize(("kept", "key"), [("decode_cuda_graph_metadata", 4), ("prefill_cuda_graph_metadata", (4, 8))])
def test_what_a_capture_left_in_the_backend_comes_back_with_its_call(kept: str, key: Any) -> None:
    """FlashInfer keeps wrappers by batch size; the graph recorded first reads its own, not the newer ones."""
    first, second, older = object(), object(), object()
    backend = SimpleNamespace(forward_metadata="first", **{kept: {2: older}})
    by_size, before = getattr(backend, kept), _kept(backend)
    by_size[key] = first
    captured = _Captured(backend, before)
    backend.forward_metadata, by_size[key] = "second", second
    captured.drop()
    assert by_size == {2: older, key: second}, "another call's entry stays"
    captured.restore()
    assert (backend.forward_metadata, by_size) == ("first", {2: older, key: first})
    captured.drop()
    assert by_size == {2: older}


def test_a_warning_of_the_engine_is_kept_once_and_their_number_is_bounded() -> None:
    listener = _Listener()
    for text in ("slow", "slow", *(f"warning {index}" for index in range(50)), "JIT KV-Cache is off"):
        listener.emit(logging.makeLogRecord({"msg": text}))
    assert listener.warnings[:2] == ["slow", "warning 0"] and len(listener.warnings) == MOST_WARNINGS
    assert listener.fallbacks == ["JIT KV-Cache is off"]


def test_a_process_has_one_listener_so_what_is_logged_while_importing_ahead_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("sglang"), "handlers", [])
    logging.getLogger("sglang.srt").warning("said while it was imported")
    first = _listening()
    logging.getLogger("sglang.srt").warning("heard")
    assert _listening() is first and first.warnings == ["heard"]


def test_a_form_of_latent_prefill_that_is_not_driven_is_refused_by_name() -> None:
    layer: Any = object.__new__(PrefillLayer)
    layer._backend, layer._model, layer._choose = "aiter", None, lambda model, batch: SimpleNamespace(name="MLA_ROCM")
    with pytest.raises(Refused, match="SGLang prefills on aiter as MLA_ROCM, which attnpin does not drive; choose another"):
        layer(None, None, None, None)
