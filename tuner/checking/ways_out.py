"""What a user can do after a check, as sentences that end in a command where there is one. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.simulated.world import is_simulated
from reports import onward, wording
from store.runs.run import Run
from store.verdicts.checked import Action, Answer, Checked, Ground
from store.verdicts.verdict import Bearing
from tuner.checking.answering import GRAVE
from tuner.checking.pinned import Pinned

CHOSEN = ("backend=", "measure.backends=", "measure.variants=", "engine.attention_backend=")  # what narrows a question to one backend
LONGEST = "measure=release"


@dataclass(frozen=True)
class NextCall:
    """What commands that go on from a check are made of. ``pin`` as it was named, with the overrides that say where it serves, quoted for a
    shell; ``replaced``: the versions of then, as name==version, which lie in the folder ``wheels`` or in an index; ``question``: overrides
    that ask what the pin answers, for a shell; ``made_up``: the pin is a simulated GPU's, which is exported to nothing."""

    pin: str
    replaced: tuple[str, ...] = ()
    question: str = ""
    wheels: str | None = None
    made_up: bool = False


def next_call(pinned: Pinned, now: Run, pin: str, replaced: Sequence[str], wheels: str | None = None) -> NextCall:
    """After ``now`` was measured of the pin in the file ``pin``."""
    place, question = onward.place(now.command), onward.question(pinned.then.command)
    named, again = shlex.join([pin, *place]), shlex.join([*question, *place])
    return NextCall(named, tuple(replaced), again, wheels, is_simulated(pinned.pin.valid_for.gpu))


def ways_out(found: Checked, call: NextCall) -> Iterator[str]:
    answer, coming = found.answer, found.next
    if answer not in (Answer.HOLDS, Answer.EQUIVALENT, Answer.IMPROVED):
        yield from (way for issue in found.fast.issues if issue.bearing is not Bearing.RIVAL for way in issue.ways_out)
    if coming and not found.written and coming.action in (Action.SWITCH, Action.UNSET):
        what = f"pin {wording.flags(coming.flags)}" if coming.flags else "set nothing"
        yield f"{what}, by today's rounds: attnpin check --pin {call.pin} --write"
    if coming and coming.alone:
        yield f"measure what else can serve here: attnpin tune {_open(call.question)}".rstrip()
    if answer in GRAVE and call.replaced:
        its = " that this one replaced: its constraints are those of the old file"
        file = its if found.written else "" if call.made_up else f": attnpin export --pin {call.pin} --to constraints"
        yield f"hold {' '.join(call.replaced)} as the pin was measured{file}"
    if answer in (Answer.SUSPECT, Answer.INCONCLUSIVE) and call.replaced:
        yield from _measured_again(found, call)


def _measured_again(found: Checked, call: NextCall) -> Iterator[str]:
    """Both versions in one sitting; where they were, with more pairs, if there can be more."""
    words, what = shlex.split(call.question), "measure both versions in one sitting"
    if found.ground is Ground.SIDE_BY_SIDE:
        if LONGEST in words:
            return
        words, what = [*(word for word in words if not word.startswith("measure=")), LONGEST], "measure more pairs of both versions"
    folder = [] if call.wheels is None else ["--wheels", call.wheels]
    envs = ["--baseline", ",".join(call.replaced), "--candidate", "present"]
    yield f"{what}: {shlex.join(['attnpin', 'compare', *envs, *folder, *words])}"


def _open(question: str) -> str:
    """``question`` to every backend."""
    return shlex.join(word for word in shlex.split(question) if not word.startswith(CHOSEN))
