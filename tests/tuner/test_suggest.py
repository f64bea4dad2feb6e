from __future__ import annotations

from tuner.suggest import instead, nearest

KEYS = ["engine", "engine.tensor_parallel", "engine.page_size", "engine.path", "measure.backends", "backend", "backends"]


def test_a_slip_of_the_finger_finds_the_name():
    assert nearest("engine.tensor_paralel", KEYS) == ("engine.tensor_parallel",)


def test_a_key_without_its_group_finds_the_full_key_first():
    assert nearest("page_size", KEYS)[0] == "engine.page_size"


def test_a_beginning_finds_every_name_that_starts_so():
    assert nearest("qwen3", ["tiny", "qwen3_8b", "qwen3_235b_a22b"]) == ("qwen3_235b_a22b", "qwen3_8b")


def test_names_clearly_further_away_than_the_best_are_left_out():
    assert nearest("backedn", ["backend", "backends", "chunked"]) == ("backend", "backends")


def test_a_word_like_no_other_finds_nothing():
    assert nearest("xyzzy", KEYS) == ()


def test_a_name_is_never_suggested_for_itself():
    assert nearest("backend", ["backend"]) == ()


def test_the_clause_names_the_nearest():
    assert instead("fa33", ["fa3", "triton"]) == "did you mean fa3?"
    assert instead("fa5", ["fa3", "fa4", "triton"]) == "did you mean fa4 or fa3?"


def test_the_clause_lists_a_few_names_when_none_is_near():
    assert instead("xyzzy", ["l4", "h200"]) == "choose one of h200, l4"


def test_the_clause_lists_many_names_too_where_nothing_else_shows_them():
    many = [f"name{i}" for i in range(30)]
    assert instead("xyzzy", many) == f"choose one of {', '.join(sorted(many))}"
    assert instead("xyzzy", many, "see the list") == "see the list" == instead("xyzzy", [], "see the list")
    assert instead("xyzzy", ["l4", "h200"], "see the list") == "choose one of h200, l4"


def test_a_name_in_another_case_is_found_alone():
    assert nearest("flash_attn", ["FLASH_ATTN", "FLASHMLA"]) == ("FLASH_ATTN",)
    assert nearest("H200", ["b200", "gb200", "h200"]) == ("h200",)
