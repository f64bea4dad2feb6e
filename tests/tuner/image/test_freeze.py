from __future__ import annotations

import pytest

from tuner.image.freeze import read_freeze
from tuner.image.listing import Listed, Listing

COMMIT = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
SGLANG = "https://github.com/sgl-project/sglang.git"


def only(text: str) -> Listed:
    [found] = read_freeze(text).found
    return found


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("torch==2.11.0+cu130", "torch", "2.11.0+cu130"),
        ("Flash_Attn.4==4.0.0b9", "flash-attn-4", "4.0.0b9"),
        ("torch[opt]==2.11.0", "torch", "2.11.0"),
        ("odd===2004d-custom", "odd", "2004d-custom"),
        ("torch==2.11.0 ; sys_platform == 'linux' \\", "torch", "2.11.0"),
        ("torch==2.11.0  # via sglang", "torch", "2.11.0"),
        ("flashinfer-python @ file:///wheels/flashinfer_python-0.6.14-py3-none-any.whl", "flashinfer-python", "0.6.14"),
        (
            "sglang-kernel @ https://example.org/sglang_kernel-0.4.5%2Bcu130-cp310-abi3-manylinux2014_x86_64.whl#sha256=00",
            "sglang-kernel",
            "0.4.5+cu130",
        ),
        ("quack-kernels @ file:///src/quack_kernels-0.6.5.tar.gz", "quack-kernels", "0.6.5"),
    ],
)
def test_a_release_is_listed_by_its_version(line: str, name: str, version: str) -> None:
    assert only(line) == Listed(name, (version,))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"sglang @ git+{SGLANG}@{COMMIT}#subdirectory=python", Listed("sglang", (), "github.com/sgl-project/sglang at 1a2b3c4d5e6f")),
        (f"-e git+{SGLANG}@{COMMIT}#egg=sglang&subdirectory=python", Listed("sglang", (), "github.com/sgl-project/sglang at 1a2b3c4d5e6f")),
        (
            "# Editable install with no version control (sglang==0.5.16)\n-e /sgl-workspace/sglang/python",
            Listed("sglang", ("0.5.16",), "a folder"),
        ),
        ("# Editable Git install with no remote (sglang==0.5.16)\n-e /my checkouts/sglang", Listed("sglang", ("0.5.16",), "a folder")),
        ("sglang @ file:///sgl-workspace/sglang/python", Listed("sglang", (), "a folder")),
    ],
)
def test_what_was_installed_from_a_folder_or_repository_is_no_release(text: str, found: Listed) -> None:
    assert only(text) == found
    assert not found.is_release("0.5.16")


def test_an_editable_install_without_a_name_is_remembered() -> None:
    found = read_freeze("torch==2.11.0\n-e file:///sgl-workspace/sglang/python\n")
    assert found == Listing("pip freeze", (Listed("torch", ("2.11.0",)),), unnamed=("file:///sgl-workspace/sglang/python",))


def test_a_name_in_a_comment_is_of_the_next_line_alone() -> None:
    text = "# Editable install with no version control (sglang==0.5.16)\ntorch==2.11.0\n-e /elsewhere\n"
    assert [each.name for each in read_freeze(text).found] == ["torch"]


def test_passwords_in_a_repositorys_address_are_not_repeated() -> None:
    assert only("sglang @ git+https://me:secret@example.org/fork/sglang.git@main").written == "from example.org/fork/sglang at main"


def test_options_and_comments_are_passed_over() -> None:
    assert (
        only(
            "--extra-index-url https://download.pytorch.org/whl/cu130\n-f wheels\n# torch==1.0\n\ntorch==2.11.0 \\\n    --hash=sha256:00\n"
        ).version
        == "2.11.0"
    )


def test_a_distribution_that_is_listed_twice_has_no_one_version() -> None:
    found = only("torch==2.11.0\nTorch==2.13.0\n")
    assert (found.version, found.written) == (None, "2.11.0 and 2.13.0, listed twice")
    assert not found.is_release("2.11.0")
    assert only("torch==2.11.0\ntorch==2.11.0\n").is_release("2.11.0")
