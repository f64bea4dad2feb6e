from __future__ import annotations

import pytest

from reports.launchers.entries import Form
from reports.merging.errors import MergeError
from reports.merging.merge import merge
from tests.reports.merging.merging import launcher, marked, pin

MANIFEST = """\
kind: Service
---
kind: ConfigMap
data:
  run.sh: |
    #!/bin/sh
    exec server
  sglang.yaml: |
    # head
    model-path: M   # mine

    tp-size: 2
  notes: "a: 1"
---
kind: Other
"""
OURS = f"{marked('flashinfer')}\ndecode-attention-backend: flashinfer\n{marked('64')}\npage-size: 64\n"
TEXT = launcher(Form.TEXT, "data", "*")
ROLES = launcher(Form.KEYS, "backend", "*")
RECIPE = "backend:\n  prefill:\n    tp: 1\n  decode:\n    tp: 2\n"


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line for line in text.splitlines(keepends=True))


def test_the_text_in_a_config_map_is_edited_as_the_yaml_it_is() -> None:
    found = merge(MANIFEST, pin(), TEXT)
    assert found.text == MANIFEST.replace("tp-size: 2\n", f"tp-size: 2\n{indented(OURS, 4)}")
    assert merge(found.text, pin(), TEXT).text == found.text
    assert merge(found.text, pin(()), TEXT).text == MANIFEST


def test_a_text_of_comments_alone_is_filled() -> None:
    before = "data:\n  a.yaml: |\n      # nothing is pinned yet\n"
    after = merge(before, pin(), TEXT).text
    assert after == before + indented(OURS, 6)
    assert merge(after, pin(()), TEXT).text == before


def test_several_places_are_named_and_one_must_be_chosen() -> None:
    with pytest.raises(MergeError, match="several places for flags.*name one or more with --at: backend.prefill, backend.decode"):
        merge(RECIPE, pin(), ROLES)
    assert merge(RECIPE, pin(), ROLES, at=["backend.decode"]).text == RECIPE + indented(OURS, 4)


def test_several_may_be_chosen_so_that_all_ranks_get_the_same() -> None:
    found = merge(RECIPE, pin(), ROLES, at=["backend.decode", "backend.prefill"])
    assert found.text == RECIPE.replace("tp: 1\n", f"tp: 1\n{indented(OURS, 4)}") + indented(OURS, 4)


def test_a_place_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        MergeError, match="has no place backend.both for flags; name one or more with --at: backend.prefill, backend.decode"
    ):
        merge(RECIPE, pin(), ROLES, at=["backend.both"])


DEPLOYMENT = """\
spec:
  template:
    spec:
      containers:
        - command:
            - python3
            - -m
            - sglang.launch_server
          args:
            - --port
            - "30000"
        - args:
            - --model
            - M
        - command:
            - python3
            - -m
            - sglang_router.launch_router
"""
WORDS = launcher(Form.WORDS, "spec", "template", "spec", "containers", "*", "*")
ARGS = "spec.template.spec.containers.{}.args"


@pytest.mark.parametrize("command", ["vllm\n            - serve", "trtllm-serve"])
def test_words_of_another_server_or_of_a_router_are_no_place_unless_the_engine_can_be_seen(command: str) -> None:
    """A model's name, or --model alone, does not show it."""
    other = DEPLOYMENT.replace("python3\n            - -m\n            - sglang.launch_server", command).replace(
        "- M", "- org/sglang-model"
    )
    with pytest.raises(MergeError, match="has no place for flags of sglang"):
        merge(other, pin(), WORDS)
    assert "--page-size" in merge(other, pin(), WORDS, at=[ARGS.format(1)]).text


def test_a_command_of_another_engine_is_no_place_whoever_names_it() -> None:
    with pytest.raises(MergeError, match="has no place spec.template.spec.containers.0.command for flags"):
        merge(DEPLOYMENT.replace("sglang.launch", "vllm.launch"), pin(), WORDS, at=[ARGS.format(0).replace("args", "command")])


def test_flags_go_behind_a_containers_args_where_it_has_some() -> None:
    with_model = DEPLOYMENT.replace("- --port", "- --model-path=M\n            - --port")
    after = merge(with_model, pin(), WORDS).text
    assert after.startswith(with_model.partition('"30000"\n')[0] + '"30000"\n            # attnpin')
    with pytest.raises(MergeError, match="several places for flags"):
        merge(with_model.replace("launch_server\n", "launch_server\n            - --page-size=16\n"), pin(), WORDS)


def test_a_script_among_the_args_is_refused() -> None:
    script = DEPLOYMENT.replace("- --port", "- exec sglang serve --port")
    with pytest.raises(MergeError, match="starts a shell there"):
        merge(script, pin(), WORDS, at=[ARGS.format(0)])


def test_an_anchor_elsewhere_does_not_matter() -> None:
    lent = "backend:\n  prefill: &p\n    tp: 1\n  decode:\n    tp: 2\nother: *p\n"
    assert merge(lent, pin(), ROLES, at=["backend.decode"]).text == lent.replace("tp: 2\n", f"tp: 2\n{indented(OURS, 4)}")
    with pytest.raises(MergeError, match="has backend.prefill in an anchor that is used elsewhere too"):
        merge(lent, pin(), ROLES, at=["backend.prefill"])


def test_of_several_documents_the_place_says_which() -> None:
    two = f"{RECIPE}---\n{RECIPE}"
    assert merge(two, pin(), ROLES, at=["2:backend.decode"]).text == two + indented(OURS, 4)


@pytest.mark.parametrize("before", ["backend:\n  agg: {}  # nothing yet\nother: 1\n", "backend:\n  # agg: x\n  agg: {}\n"])
def test_an_empty_mapping_is_opened_and_closed_again(before: str) -> None:
    after = merge(before, pin(), ROLES).text
    assert after.replace(indented(OURS, 4), "") == before.replace(" {}", "", 1)
    assert merge(after, pin(), ROLES).text == after
    assert merge(after, pin(()), ROLES).text == before
