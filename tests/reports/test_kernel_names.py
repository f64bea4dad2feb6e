from __future__ import annotations

from reports.kernel_names import LONGEST, MOST_NAMES, launched, short


def test_a_kernel_name_is_shown_without_its_template_arguments_and_parameters() -> None:
    assert short("void flash::decode<__nv_bfloat16, 128>(Params*)") == "flash::decode"
    assert short("void (anonymous namespace)::store_kvcache<2048l>((anonymous namespace)::Params)") == "store_kvcache"
    assert short("_fwd_kernel_stage2") == "_fwd_kernel_stage2"
    assert short("<unnamed>::kernel()") == "<unnamed>::kernel()"


def test_a_long_name_without_template_arguments_loses_its_middle() -> None:
    long = [f"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm90_{'tensorptrbf16gmemalign16_' * 20}_{last}" for last in "01"]
    shown = [short(name) for name in long]
    assert all(len(name) == LONGEST and name.startswith("kernel_cutlass_kernel_flash") for name in shown) and shown[0] != shown[1]


def test_kernels_are_counted_and_the_rarest_of_many_are_only_numbered() -> None:
    assert launched(["a<1>", "b", "a<2>"]) == "2 x a, b"
    many = [f"kernel_{number}" for number in range(MOST_NAMES + 3)]
    assert launched(many).endswith("kernel_5, and 3 others")
    assert launched([]) == ""
