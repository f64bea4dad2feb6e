from __future__ import annotations

from backends.allowed import Span
from backends.asked import Asked, asking
from backends.capability import BackendEntry, Capability
from backends.cell import Phase
from backends.limits import Limit
from backends.pages import PAGE_SIZES, apart, page_limits, taken
from tests.asking import entries, gpu, question

ALL = entries()
B200 = gpu(100)


def entry(name: str, *limits: Limit) -> BackendEntry:
    return BackendEntry(name, Capability(limits))


def page(*allowed: int | str | Span, **when: tuple[str, ...]) -> Limit:
    return Limit("page_size", allowed, "made up", when=tuple(when.items()))


def test_only_limits_whose_conditions_surely_hold_narrow_the_pages() -> None:
    capability = Capability((page(64, phase=("decode",)), page(128, flashinfer=("0.6.14",)), Limit("group", (1,), "made up")))
    assert page_limits(capability, Asked(question())) == capability.limits[:1]
    assert page_limits(capability, Asked(question(phase=Phase.PREFILL))) == ()


def test_pages_are_what_all_limits_take() -> None:
    assert taken((page(16, 32, 64), page(Span("32", None)))) == (32, 64)
    assert taken(()) == PAGE_SIZES


def test_two_backends_without_a_common_page_size_are_told_apart_with_both_sizes() -> None:
    reason = apart(entry("one", page(128)), entry("two", page(16, 32)), asking(question()))
    assert reason is not None
    assert (reason.rule, reason.asked) == ("page_size", "one in prefill with two in decode")
    assert reason.allowed == "page size 128 for one and page size 16 or 32 for two"
    assert (reason.remedy, reason.source) == ("choose two backends that share a page size", "made up")


def test_two_backends_that_share_one_size_or_have_no_limit_serve_together() -> None:
    ask = asking(question())
    assert apart(entry("one", page(64, 128)), entry("two", page(16, 64)), ask) is None
    assert apart(entry("one", page(128)), entry("two"), ask) is None


def test_a_phase_s_own_limits_count_for_it_alone() -> None:
    ask = asking(question())
    assert apart(entry("one", page(128, phase=("decode",))), entry("two", page(16)), ask) is None


def test_fa4_and_trtllm_mha_shared_no_page_size_on_blackwell_before_0_5_22() -> None:
    for rules, together in (("0.5.16", False), ("0.5.22", True)):
        ask = asking(question(gpu=B200, rules=rules))
        assert (apart(ALL["fa4"], ALL["trtllm_mha"], ask) is None) is together
        assert (apart(ALL["trtllm_mha"], ALL["fa4"], ask) is None) is together
    assert apart(ALL["fa4"], ALL["trtllm_mha"], asking(question(rules="0.5.16"))) is None  # on Hopper fa4 takes any
