from __future__ import annotations

from backends.condition import Fa4Copy, Installed, Overwritten, Provided
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import SITE, found, installed, only, patient

OTHER = "/opt/overlay"
NEW, OLD = Installed("flashinfer-python", "0.7.1", OTHER), Installed("flashinfer-python", "0.6.1", SITE)
TWICE = (Provided("flashinfer", (OTHER, SITE)),)


def test_a_copy_that_hides_another_is_told_with_folders_and_versions() -> None:
    finding = only(patient(NEW, OLD, provided=TWICE))
    assert (finding.rule, finding.severity) == ("second-copy", Severity.WARNING)
    assert finding.what == (f"flashinfer is imported from {OTHER} (flashinfer-python 0.7.1), which hides {SITE} (flashinfer-python 0.6.1)")


def test_a_copy_put_first_by_engine_path_is_what_was_asked_for() -> None:
    finding = only(patient(NEW, OLD, provided=TWICE, overlays=(OTHER,)))
    assert finding.severity is Severity.NOTE and ", as engine.path says, which hides" in finding.what


def test_a_copy_without_a_record_has_no_version() -> None:
    finding = only(patient(OLD, provided=TWICE))
    assert f"imported from {OTHER} (of no distribution's record)" in finding.what


def test_two_distributions_in_one_folder_are_both_named() -> None:
    sick = patient(*installed(flash_attn="2.8.3", flash_attn_4="4.0.0"), provided=(Provided("flash_attn", (SITE, OTHER)),))
    assert f"{SITE} (flash-attn 2.8.3, flash-attn-4 4.0.0)" in only(sick).what


def test_portions_of_a_namespace_hide_nothing() -> None:
    assert found(patient(provided=(Provided("cutlass", (SITE, OTHER), merged=True), Provided("torch", (SITE,))))) == {}


def test_a_distribution_recorded_twice_in_one_folder_is_told() -> None:
    finding = only(patient(*installed(triton="3.6.0"), *installed(triton="3.7.1")))
    assert (finding.rule, finding.what) == ("two-records", f"{SITE} records triton 2 times, as 3.6.0 and 3.7.1")
    assert "pip uninstall triton" in finding.remedy


def test_overwritten_files_are_told_with_whose_lies_there() -> None:
    pair = Overwritten("flash-attn", "flash-attn-4", 37, "flash_attn/cute/interface.py", "flash-attn")
    finding = only(patient(overwritten=(pair,)))
    assert "37 files with other contents, such as flash_attn/cute/interface.py: what lies there is flash-attn's" in finding.what
    neither = Overwritten("flash-attn", "flash-attn-4", 1, "flash_attn/cute/interface.py", None)
    assert "what lies there is neither's" in only(patient(overwritten=(neither,))).what


def test_a_vendored_fa4_is_a_note_that_says_what_upgrading_changes() -> None:
    copies = (Fa4Copy("sglang", "sglang/kernels/ops/attention/flash_attn/cute"), Fa4Copy("flash-attn-4", "flash_attn/cute"))
    finding = only(patient(*installed(sglang="0.5.22", flash_attn_4="4.0.0b36"), fa4_copies=copies))
    assert (finding.rule, finding.severity) == ("fa4-vendored", Severity.NOTE)
    assert finding.what == (
        "sglang 0.5.22 carries its own FlashAttention 4 (sglang/kernels/ops/attention/flash_attn/cute); "
        "flash-attn-4 4.0.0b36 is another copy"
    )
    assert "upgrading flash-attn-4 changes nothing" in finding.why and "quack-kernels" in finding.why


def test_the_copy_in_flash_attn_2_is_not_flash_attn_4s() -> None:
    finding = only(patient(*installed(flash_attn="2.8.3"), fa4_copies=(Fa4Copy("flash-attn", "flash_attn/cute"),)))
    assert finding.what == "flash-attn 2.8.3 carries its own FlashAttention 4 (flash_attn/cute)"
