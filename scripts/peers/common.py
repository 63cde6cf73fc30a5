# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""What all parts of bench_peers share: programs on chosen CPUs, the worker by its protocol, and the table of results."""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPUS = sorted(os.sched_getaffinity(0))
ONE = CPUS[-1:]  # where a worker runs one thread: away from the first CPU's interrupts


def fail(text):
    sys.exit(f"bench_peers: {text}")


def environment(threads, more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    return clean | {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} | more


def call(command, cpus=CPUS, **more):
    """Output of a program that runs on these CPUs only, with one OpenMP thread for each."""
    result = subprocess.run(command, env=environment(len(cpus), more), capture_output=True, text=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    if result.returncode != 0:
        words = (result.stderr or result.stdout).strip().splitlines() or ["no word"]
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {result.returncode}: {words[-1][:300]}")
    return result.stdout


def loops(build, names, cpus, size, samples, block_ms, *more, **variables):
    """Rows of build/peer_loops by name."""
    out = call([f"{build}/peer_loops", *names, "--threads", str(len(cpus)), "--size", str(size), "--samples", str(samples),
                "--block-ms", str(block_ms), *more], cpus, **variables)
    return {row["name"]: row for row in map(json.loads, out.splitlines())}


class Worker:
    """build/assay-worker-cpu by its protocol (harness/protocol.h), on these CPUs: one process, case after case."""

    def __init__(self, build, cpus):
        read, write = os.pipe()
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "OMP_"))}
        self.process = subprocess.Popen([f"{build}/assay-worker-cpu", "--assay-fd", str(write)], stdin=subprocess.PIPE, text=True,
                                        pass_fds=[write], env=clean, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        os.close(write)
        self.lines = os.fdopen(read)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # the worker leaves
        self.process.wait()
        self.lines.close()

    def record(self, case, samples, block_s, warmup_s):
        self.number += 1
        policy = {"block_s": block_s, "warmup_min_s": 0, "warmup_max_s": warmup_s, "measure_min_s": 0, "measure_max_s": 60,
                  "samples_min": samples, "samples_max": samples, "relative_error": 0, "seed": 1, "max_memory_bytes": 0}
        request = {"type": "case", "id": self.number, "case": case, "device_set": ["cpu:0"], "session": 1, "policy": policy,
                   "hold": False}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        record = None
        for message in map(json.loads, self.lines):
            if message["type"] == "record":
                record = message["record"]
            if message["type"] == "case_end":
                break
        if record is None or record["outcome"] != "MEASURED":
            raise RuntimeError(f"{case}: {record['reason'] if record else 'the worker ended'}")
        return record


def best(record):
    return max(record["metrics"][0]["samples"])


def quartiles(values):
    """Median and, in brackets, first and third quartile."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return f"{middle:.3f} [{low:.3f} {high:.3f}]"


class Table:
    """Lines of what was measured, what was to be reached, and whether it was. A line without a goal is for information."""

    def __init__(self):
        self.rows, self.complete, self.numbers = [], True, {}

    def add(self, what, value, text, at_least=None, below=None):
        goal = "" if at_least is None and below is None else f">= {at_least}" if below is None else f"< {below}"
        met = None if not goal else value >= at_least if below is None else value < below
        self.rows.append((what, text, goal, "" if met is None else "yes" if met else "NO"))
        self.numbers[what] = value
        print(f"  {what}: {text}{f'   goal {goal}: ' + self.rows[-1][3] if goal else ''}", flush=True)

    def missing(self, what, why, goal=""):
        self.complete = False
        self.rows.append((what, f"not measured: {why}", goal, "NO" if goal else ""))
        print(f"  {what}: not measured: {why}", flush=True)

    def print(self):
        """The whole table. True: everything was measured, and every goal was reached."""
        print(f"\n{'speed and size':58} {'measured':40} {'goal':>9} met")
        for what, text, goal, met in self.rows:
            print(f"{what:58} {text:40} {goal:>9} {met}")
        return self.complete and all(met != "NO" for *_, met in self.rows)
