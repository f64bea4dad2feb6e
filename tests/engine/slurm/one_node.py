"""Slurm as it is, on a node that is this machine: its controller, its daemon and munge, in a folder, without systemd. One GPU, made up."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue", "srun")  # Debian: munge, slurmctld, slurmd, slurm-client
READY_S = 30.0
URGENT = "urgent"  # a partition whose jobs take the node from those of the other
# What a cluster for thousands of jobs waits for, and one job need not: a requeued job stays in the queue until the credential of its first
# start has expired (120 s by default); `sbatch --wait` looks every 2 s, and four times more seldom at each look as long as ended jobs are
# kept for longer than twice that (300 s); a job in the queue is looked at every 30 s and 60 s.
CREDENTIAL_S, KEPT_S = 5, 4
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge/socket,cred_expire={credential_s}
MinJobAge={kept_s}
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} Gres=gpu:1
PartitionName=main Nodes={host} Default=YES PriorityTier=1
PartitionName={urgent} Nodes={host} PriorityTier=2
"""


def missing() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program) is None]


@contextmanager
def one_node(folder: Path) -> Iterator[str]:
    """The value of SLURM_CONF, while the cluster is there."""
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir()
    host, user = socket.gethostname().partition(".")[0], pwd.getpwuid(os.getuid()).pw_name
    words = {"host": host, "user": user, "folder": folder, "ports": _free_ports(2), "urgent": URGENT, "processors": os.cpu_count()}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**words, credential_s=CREDENTIAL_S, kept_s=KEPT_S))
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    munge = (f"--socket={folder}/munge/socket", f"--key-file={key}", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
    with ExitStack() as stack:
        stack.enter_context(_kept_up("munged", "--foreground", "--force", f"--pid-file={folder}/munge/pid", *munge))
        stack.enter_context(_kept_up("slurmctld", "-D", "-f", f"{folder}/slurm.conf"))
        stack.enter_context(_kept_up("slurmd", "-D", "-f", f"{folder}/slurm.conf"))
        _await_idle(f"{folder}/slurm.conf")
        yield f"{folder}/slurm.conf"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]


@contextmanager
def _kept_up(*command: str) -> Iterator[None]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(READY_S)


def _await_idle(configuration: str) -> None:
    deadline, asked = time.monotonic() + READY_S, ("sinfo", "--noheader", "--format=%T")
    while True:
        told = subprocess.run(asked, env={**os.environ, "SLURM_CONF": configuration}, capture_output=True, text=True)
        if "idle" in told.stdout:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the node does not become idle: {told.stdout or told.stderr}")
        time.sleep(0.2)
