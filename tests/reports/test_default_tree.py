from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

from reports.default_tree import render_json, render_text
from reports.default_tree_svg import render_svg
from tests.tuner.scenarios import B200, DSV3, H100, scenario
from tuner.engines.sglang.resolution import answer_to, path_of
from tuner.engines.sglang.tree import plain_tree, tree_for

HOPPER = answer_to(scenario(H100), "0.5.22")
LATENT = answer_to(scenario(B200, DSV3), "0.5.22")


def test_the_way_through_is_marked_from_the_top_to_the_branch_that_won() -> None:
    lines = render_text(tree_for(HOPPER), path_of(HOPPER), "made_up on sm 90").splitlines()
    assert lines[0].endswith("for made_up on sm 90: the first branch that holds wins")
    marked = [(line.split()[0], line.split()[-1]) for line in lines if line.startswith(("  no", "  yes"))]
    assert marked == [("no", "flashinfer"), ("yes", "fa3")]
    first = "  default.mha.hopper: base fa3, if no base backend chosen, MHA model, Hopper with CUDA 12.3 or newer"
    assert lines[-2] == f"{first}, topk unset (or 1 at page size 1)"


def test_a_tree_that_is_not_asked_says_what_decided() -> None:
    head, drawn, _ = render_text(tree_for(LATENT), path_of(LATENT), "dsv3").split("\n\n")
    assert head.endswith("not asked here, since mla.trtllm, base trtllm_mla, came before it")
    assert not any(line.startswith(("  no", "  yes")) for line in drawn.splitlines())


def test_every_branch_is_drawn_as_text_and_as_a_picture() -> None:
    tree = plain_tree("0.5.22")
    root = ElementTree.fromstring(render_svg(tree))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")][1:]
    assert len(titles) == len(tree.branches)
    assert all(f"({branch.rule})" in title for branch, title in zip(tree.branches, titles, strict=True))
    assert [word for word in words if word in {branch.backend for branch in tree.branches}] == [branch.backend for branch in tree.branches]
    assert {"MHA model", "MLA model", "anything else"} <= set(words)


def test_a_picture_has_room_for_what_it_shows() -> None:
    root = ElementTree.fromstring(render_svg(plain_tree("0.5.22")))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.attrib.get("x", 0)) + float(box.attrib["width"]) <= width
        assert float(box.attrib.get("y", 0)) + float(box.attrib["height"]) <= height


def test_the_data_holds_sources_and_reasons() -> None:
    data = json.loads(render_json(tree_for(HOPPER), path_of(HOPPER)))
    assert data["tree"]["branches"][1]["taken"] is True
    assert data["path"][0]["source"].startswith("sglang/srt/") and "17411" in data["path"][0]["because"]
