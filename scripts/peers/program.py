# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""What the program itself costs: how much of a run is measuring, the parent's memory, how fast it answers, how fast it reports.

csv: a scripted device plays the first of 1,000 planned sessions of 100 cases, and the run is interrupted. The records of that
session, each with two metrics of 20 samples with clocks, are then repeated for the others: what is timed is reading 100,000
records, not making them.
"""
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time

SCENARIO = """name = "many"
[device]
name = "Fake accelerator"
pci_address = "0000:10:00.0"
uuid = "FAKE-10000000"
driver = "1.0"
clock_hz = 1.5e9
facts = { memory_bytes = 8.0e10, numa_nodes = 1 }
[model]
noise_sd = 0.002
[[benchmark]]
name = "memory/stream"
cases = [CASES]
[[benchmark.metric]]
name = "bandwidth"
unit = "B/s"
median = 3.0e12
[[benchmark.metric]]
name = "bandwidth_burst"
unit = "B/s"
median = 2.9e12
"""
PROFILE = """summary = "20 samples for each case"
sessions = SESSIONS
[policy]
block_s = 0.1
warmup_min_s = 0.0
warmup_max_s = 0.1
measure_min_s = 0.0
measure_max_s = 60
samples_min = 20
samples_max = 20
relative_error = 0.0
"""


def peak_kib(process):
    """Largest resident size of a process, by looking until it has ended."""
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                peak = max([peak, *(int(line.split()[1]) for line in status if line.startswith("VmHWM"))])
        except OSError:
            pass
        time.sleep(0.02)
    return peak


def whole_run(options, table, profile):
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        begin = time.monotonic()
        process = subprocess.Popen([f"{options.build}/assay", "run", "--profile", profile, "--quiet", "--out", f"{folder}/run"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        peak = peak_kib(process) / 1024
        wall = time.monotonic() - begin
        error = process.stderr.read().strip().splitlines()
        process.stderr.close()
        if process.returncode != 0:
            table.missing(f"run --profile {profile}", f"it ended with {process.returncode}{': ' + error[-1] if error else ''}")
            return
        with open(f"{folder}/run/records.jsonl") as file:
            phases = [json.loads(line)["phases_s"] for line in file]
    measure, warmup = (sum(p[name] for p in phases) for name in ("measure", "warmup"))
    what = f"run --profile {profile}"
    table.add(f"{what}: wall, s", wall, f"{wall:.1f} ({len(phases)} records)")
    table.add(f"{what}: (warmup + measure) / wall", (warmup + measure) / wall, f"{(warmup + measure) / wall:.3f}")
    table.add(f"{what}: measure / wall", measure / wall, f"{measure / wall:.3f}")
    table.add(f"{what}: parent's resident peak, MiB", peak, f"{peak:.1f}", below=50)


def run(options, table):
    whole_run(options, table, "quick")
    if options.standard:
        whole_run(options, table, "standard")
    else:
        print("  run --profile standard: left out, it takes 10 minutes; --standard runs it")


def start(options, table):
    nothing = os.open(os.devnull, os.O_RDWR)
    for verb in ("help", "list"):
        seconds = []
        for _ in range(options.calls):
            begin = time.monotonic()
            child = os.posix_spawn(f"{options.build}/assay", ["assay", verb], os.environ,
                                   file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 1), (os.POSIX_SPAWN_DUP2, nothing, 2)])
            _, status = os.waitpid(child, 0)
            seconds.append(time.monotonic() - begin)
            if status != 0:
                table.missing(f"assay {verb}", f"it ended with status {status}", "< 20")
                return
        ms = statistics.median(seconds) * 1e3
        table.add(f"assay {verb}: median wall of {options.calls} calls, ms", ms, f"{ms:.1f}", below=20)
    os.close(nothing)


def repeat_first_session(options, folder, records, cases, sessions):
    """Writes records.jsonl of a run of so many cases and sessions; returns its size."""
    run = subprocess.Popen([f"{options.build}/assay", "run", "--device", f"fake:{folder}/many.toml", "--quiet", "--out",
                            f"{folder}/run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=os.environ | {"ASSAY_PROFILE_DIR": f"{folder}/profiles"})
    try:
        lines = []
        while len(lines) < cases and run.poll() is None:
            time.sleep(0.05)
            if os.path.exists(records):
                with open(records) as file:
                    lines = [line for line in file if line.endswith("\n")]
        run.send_signal(signal.SIGINT)
    finally:
        run.wait()
    first = [json.loads(line) for line in lines[:cases]]
    if os.path.exists(f"{folder}/run/run.json"):
        os.remove(f"{folder}/run/run.json")  # it tells of the interrupted run
    with open(records, "w") as file:
        for session in range(1, sessions + 1):
            for number, record in enumerate(first):
                record["session"] = record["process"] = session
                record["sequence"] = 1 + (session - 1) * cases + number
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
    return os.path.getsize(records)


def csv(options, table):
    cases = min(100, options.records)
    sessions = options.records // cases
    what = f"{cases * sessions} records to CSV, s"
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        os.mkdir(f"{folder}/profiles")
        with open(f"{folder}/many.toml", "w") as file:
            file.write(SCENARIO.replace("CASES", ", ".join(f'"op:copy/size:{i}"' for i in range(cases))))
        with open(f"{folder}/profiles/quick.toml", "w") as file:
            file.write(PROFILE.replace("SESSIONS", str(sessions)))
        records = f"{folder}/run/records.jsonl"
        size = repeat_first_session(options, folder, records, cases, sessions)
        with open(records) as file:
            samples = [len(metric["samples"]) for metric in json.loads(next(file))["metrics"]]
        lines = cases * sessions
        print(f"# csv: {lines} records of {size / lines:.0f} B; metrics with {samples} samples")
        seconds = []
        for number in range(3):
            begin = time.monotonic()
            subprocess.run([f"{options.build}/assay", "report", f"{folder}/run", "--format", "csv", "-o", f"{folder}/{number}.csv"],
                           stderr=subprocess.DEVNULL)  # a cut run is INCOMPLETE: exit 2
            seconds.append(time.monotonic() - begin)
        with open(f"{folder}/0.csv") as file:
            rows = sum(1 for _ in file) - 1
        if rows != lines * len(samples):
            table.missing(what, f"{rows} rows for {lines} records", "< 2")
            return
        table.add(what, statistics.median(seconds), f"{statistics.median(seconds):.2f}", below=2)
