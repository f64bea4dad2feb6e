"""A Slurm job for each scenario, on a node of its own. What a job came to lies beside its script, and is read by whoever asks next."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from store.database.interrupts import ENDING
from store.files import write_together
from tuner.errors import Incomplete, MeasurementInvalid, UsageError
from tuner.executors.child import PREFIX, Children
from tuner.executors.executor import Done, Say, Task, command_of
from tuner.executors.place import Place

SCRIPT = """\
#!/bin/sh
#SBATCH --job-name={job}
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="{log}"
{options}
cd {folder} || exit 2
rm -f {code} {line}
{command} > {line}
code=$?
# Interrupted or preempted: it has not ended. Slurm puts it into the queue again, and it goes on where it was.
case $code in {interrupted}) exit $code ;; esac
echo $code > {code}.part && mv {code}.part {code}
exit $code
"""
INTERRUPTIONS = tuple(128 + number for number in ENDING)  # exit codes
INTERRUPTED = "|".join(map(str, INTERRUPTIONS))  # as a shell takes them


@dataclass
class Slurm:
    """``submit`` of ``place``: jobs are submitted and waited for; else their scripts are written, for somebody to submit."""

    place: Place
    children: Children = field(default_factory=Children)
    _running: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Raises `UsageError` where jobs are to be submitted and no sbatch is there."""
        if self.place.submit and shutil.which("sbatch") is None:
            raise UsageError("executor.submit=true needs sbatch on the path; leave it out to have the job scripts written alone")

    @property
    def places(self) -> int:
        return self.place.at_once if self.place.submit else 1

    def run(self, task: Task, place: int, say: Say) -> Done:
        files = Files.of(Path(self.place.folder).absolute(), task)
        if (done := files.taken()) is not None:
            return replace(done, ran=False)
        write_together([(files.script, self._script(task, files).encode())])
        if not self.place.submit:
            last = f"not submitted: sbatch {shlex.quote(str(self.place.folder))}/{files.script.name}"
            return Done(Incomplete.exit_code, None, last, ran=False)
        with self._lock:
            self._running.add(files.job)
        say(f"in the queue, {files.script.name}")
        submitted = self.children.run(["sbatch", "--parsable", "--wait", str(files.script)], say)
        with self._lock:
            self._running.discard(files.job)
        return files.taken() or Done(_without_result(submitted.exit_code), None, submitted.last or f"it left no result; {files.log}")

    def interrupt(self) -> None:
        """Jobs in the queue or at work are cancelled; what they stored is kept."""
        with self._lock:  # before those that wait for them end, and forget them
            names = ",".join(sorted(self._running))
        self.children.interrupt()
        if names:
            subprocess.run(["scancel", f"--name={names}"], capture_output=True, check=False)

    def _script(self, task: Task, files: Files) -> str:
        quoted = {name: shlex.quote(str(path)) for name, path in (("code", files.code), ("line", files.line), ("folder", Path.cwd()))}
        options, command = "\n".join(f"#SBATCH {option}" for option in self.place.options), shlex.join(command_of(task))
        return SCRIPT.format(job=files.job, log=files.log, options=options, interrupted=INTERRUPTED, command=command, **quoted)


@dataclass(frozen=True)
class Files:
    """Of one job. ``code`` is there once it has ended, ``line`` holds the JSON it printed."""

    script: Path
    job: str

    @classmethod
    def of(cls, folder: Path, task: Task) -> Files:
        """Another sweep has jobs of other names, though it may have the folder."""
        told = hashlib.sha256(f"{folder} {' '.join(task.overrides)}".encode()).hexdigest()[:8]
        words = re.sub(r"[^A-Za-z0-9]+", "-", task.name).strip("-")[:60]
        return cls(folder / f"{task.number:03}-{words}-{told}.sh", f"attnpin-{told}")

    @property
    def code(self) -> Path:
        return self.script.with_suffix(".code")

    @property
    def line(self) -> Path:
        return self.script.with_suffix(".json")

    @property
    def log(self) -> Path:
        return self.script.with_suffix(".log")

    def taken(self) -> Done | None:
        """What the job came to, told once: the same sweep begun anew is measured anew. None = it has not ended."""
        try:
            code = int(self.code.read_text())
        except (OSError, ValueError):
            return None
        done = Done(code, _last(self.line, "{"), (_last(self.log, PREFIX) or "").removeprefix(PREFIX))
        self.code.unlink()
        return done


def _without_result(code: int) -> int:
    """Of sbatch, whose 1 (refused, or cancelled in the queue) is no verdict of ours."""
    if code in INTERRUPTIONS:
        return code
    return MeasurementInvalid.exit_code if code else Incomplete.exit_code


def _last(file: Path, start: str) -> str | None:
    with suppress(OSError):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line for line in reversed(lines) if line.startswith(start)), None)
    return None
