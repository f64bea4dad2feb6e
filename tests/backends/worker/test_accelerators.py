from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from backends.worker import accelerators, board
from backends.worker.accelerators import amd_gpu, gfx_name, pci_card

MI300X = "simd_count 1216\nsimd_per_cu 4\nlds_size_in_kb 64\ngfx_target_version 90402\nvendor_id 4098\ndevice_id 29857\nunique_id 255\n"
UNLISTED = "simd_count 384\nsimd_per_cu 4\ngfx_target_version 90010\nvendor_id 4098\ndevice_id 29711\n"
PROCESSOR = "cpu_cores_count 48\nsimd_count 0\ngfx_target_version 0\n"
GIB = 1 << 30


def kfd_node(root: Path, number: int, properties: str, vram_bytes: int = 0) -> None:
    node = root / "sys/class/kfd/kfd/topology/nodes" / str(number)
    for bank, (heap, size) in enumerate(((0, 512 * GIB), (1, vram_bytes))):
        (node / "mem_banks" / str(bank)).mkdir(parents=True)
        (node / "mem_banks" / str(bank) / "properties").write_text(f"heap_type {heap}\nsize_in_bytes {size}\n")
    (node / "properties").write_text(properties)


def pci_device(root: Path, place: str, vendor: str, device: str) -> None:
    folder = root / "sys/bus/pci/devices" / place
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "device").write_text(f"{device}\n")


def node(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).touch()


@pytest.fixture
def amd(tmp_path: Path) -> Path:
    """Two processors, an MI300X, and a card that nobody has listed."""
    kfd_node(tmp_path, 0, PROCESSOR)
    kfd_node(tmp_path, 1, PROCESSOR)
    kfd_node(tmp_path, 2, MI300X, 192 * GIB)
    kfd_node(tmp_path, 10, UNLISTED, 64 * GIB)
    return tmp_path


def test_an_amd_gpu_is_read_from_the_kernels_topology(amd: Path) -> None:
    found = amd_gpu(amd, {})
    assert found is not None
    assert (found.kind, found.name, found.arch, found.sm) == ("rocm", "AMD Instinct MI300X", "gfx942", None)
    assert (found.memory_bytes, found.sm_count, found.smem_per_block_bytes, found.uuid) == (
        192 * GIB,
        304,
        64 << 10,
        "GPU-00000000000000ff",
    )


@pytest.mark.parametrize("variable", ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"])
def test_an_amd_gpu_is_chosen_by_number(amd: Path, variable: str) -> None:
    found = amd_gpu(amd, {variable: "1,0"})
    assert found is not None and (found.name, found.sm_count) == ("AMD GPU gfx90a", 96)


def test_an_amd_gpu_is_chosen_by_its_uuid(amd: Path) -> None:
    found = amd_gpu(amd, {"ROCR_VISIBLE_DEVICES": "GPU-00000000000000ff"})
    assert found is not None and found.name == "AMD Instinct MI300X"


@pytest.mark.parametrize("visible", ["", "-1", "2", "GPU-01"])
def test_a_hidden_amd_gpu_is_none(amd: Path, visible: str) -> None:
    assert amd_gpu(amd, {"HIP_VISIBLE_DEVICES": visible}) is None


def test_the_graphics_of_a_processor_are_no_serving_gpu(tmp_path: Path) -> None:
    kfd_node(tmp_path, 1, UNLISTED, GIB)
    assert amd_gpu(tmp_path, {}) is None
    assert amd_gpu(tmp_path / "without kfd", {}) is None


@pytest.mark.parametrize(
    ("version", "name"), [(90402, "gfx942"), (90500, "gfx950"), (90010, "gfx90a"), (110001, "gfx1101"), (120001, "gfx1201")]
)
def test_the_kernels_version_numbers_have_names(version: int, name: str) -> None:
    assert gfx_name(version) == name


@pytest.mark.parametrize(
    ("kind", "ids", "device_node", "name"),
    [
        ("xpu", ("0x8086", "0x0bd5"), "dev/dri/renderD128", "Intel(R) Data Center GPU Max 1550"),
        ("xpu", ("0x8086", "0xe20b"), "dev/dri/renderD129", "Intel(R) Arc(TM) B580 Graphics"),
        ("npu", ("0x19e5", "0xd802"), "dev/davinci0", "Ascend 910B"),
    ],
)
def test_a_card_is_known_by_its_pci_id_where_its_device_node_is(
    tmp_path: Path, kind: str, ids: tuple[str, str], device_node: str, name: str
) -> None:
    pci_device(tmp_path, "0000:00:02.0", "0x8086", "0x9a49")  # a laptop's graphics
    pci_device(tmp_path, "0000:03:00.0", *ids)
    assert pci_card(kind, tmp_path) is None
    node(tmp_path, device_node)
    found = pci_card(kind, tmp_path)
    assert found is not None and (found.kind, found.name) == (kind, name)


def test_graphics_that_nobody_has_listed_are_no_card(tmp_path: Path) -> None:
    node(tmp_path, "dev/dri/renderD128")
    pci_device(tmp_path, "0000:00:02.0", "0x8086", "0x9a49")
    assert pci_card("xpu", tmp_path) is None


def test_a_mac_with_apple_silicon_names_its_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert accelerators.mac() is None  # this is Linux
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(subprocess, "run", lambda *words, **_: subprocess.CompletedProcess(words, 0, "Apple M3 Max\n"))
    found = board.here(board.served_by({"__version__": "2.13.0"}))
    assert (found.kind, found.name, found.arch) == ("mps", "Apple M3 Max", "arm64")
    assert found.memory_bytes is not None


def test_a_torch_is_asked_what_it_was_built_for() -> None:
    cuda, hip, xpu, plain = ({"cuda": "13.0"}, {"cuda": None, "hip": "7.2"}, {"xpu": "2025"}, {"__version__": "2.13.0+cpu"})
    assert [board.served_by(torch)[0] for torch in (cuda, hip, xpu, plain)] == ["cuda", "rocm", "xpu", "mps"]
    assert board.served_by({}) == ()


def test_a_rocm_machine_with_a_cpu_torch_is_a_processor() -> None:
    assert board.here(board.served_by({"__version__": "2.13.0+cpu"})).kind == "cpu"
