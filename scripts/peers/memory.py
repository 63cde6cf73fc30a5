# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Bandwidth of DRAM against BabelStream and STREAM: one core, then all, copy and triad in the table, the others beside it.

Both peers are built in BUILD/peers by the same compiler with -O3 -march=native -fopenmp. Ours are BUILD/peer_loops (plain
loops around our kernels) and the cases memory/stream/.../size:dram of BUILD/assay-worker-cpu, both built without -march: they
choose their instruction set at run time. All run on the same CPUs. Rates count bytes as STREAM does.

A round runs every program once, one after the other, and takes the best of the same number of repetitions from each, as
STREAM and BabelStream report. A ratio divides rates of one round, so that a disturbance from outside meets both sides.
Programs take turns in going first.
"""
import os
import re
import statistics

from peers.common import CPUS, ONE, Worker, best, call, fail, loops

OPERATIONS = ["copy", "triad", "scale", "add", "dot"]
MIB = 2**20


def case_of(op, threads):
    return f"memory/stream/op:{op}/type:f64/size:dram/threads:{threads}"


def build_peers(options, mib):
    """Name -> function(cpus) -> {operation: best bytes per second}; the first repetition doesn't count."""
    folder, flags, elements = f"{options.build}/peers", ["-O3", "-march=native", "-fopenmp"], mib * MIB // 8
    os.makedirs(folder, exist_ok=True)
    peers = {}
    if options.babelstream:
        source, babelstream_binary = f"{options.babelstream}/src", f"{folder}/babelstream"
        call([options.cxx, *flags, "-std=c++17", "-DOMP", f"-I{source}", f"-I{source}/omp", f"{source}/main.cpp",
              f"{source}/omp/OMPStream.cpp", "-o", babelstream_binary])

        def babelstream(cpus):
            out = call([babelstream_binary, "-s", str(elements), "-n", str(options.repetitions), "--csv"], cpus)
            rows = re.findall(r"(?m)^(Copy|Mul|Add|Triad|Dot),\d+,\d+,\d+,([\d.e+]+)", out)
            return {name.lower().replace("mul", "scale"): float(rate) * 1e6 for name, rate in rows}
        peers["BabelStream"] = babelstream
    if options.stream:
        stream_binary = f"{folder}/stream"
        call([options.cc, *flags, f"-DSTREAM_ARRAY_SIZE={elements}", f"-DNTIMES={options.repetitions}", "-mcmodel=medium",
              options.stream, "-o", stream_binary])

        def stream(cpus):
            out = call([stream_binary], cpus)
            if "Solution Validates" not in out:
                fail("STREAM did not validate")
            rows = re.findall(r"(?m)^(Copy|Scale|Add|Triad):\s+([\d.]+)", out)
            return {name.lower(): float(rate) * 1e6 for name, rate in rows}
        peers["STREAM"] = stream
    return peers


def measure(options, table, cpus, threads):
    with Worker(options.build, cpus) as worker:
        samples = options.repetitions - 1
        operations = OPERATIONS if threads == "all" else ["copy", "triad"]  # the cases that exist
        sizes = {op: worker.record(case_of(op, threads), 1, 0.001, 0)["facts"] for op in operations}
        mib = options.mib or int(sizes["copy"]["working_set_bytes"]) // MIB
        programs = build_peers(options, mib)
        peers = list(programs)
        names = {f"stream/{op}/f64/nt": op for op in OPERATIONS if op != "dot"} | {"stream/dot/f64": "dot"}
        programs["loop"] = lambda cpus: {names[name]: row["best"]
                                         for name, row in loops(options.build, names, cpus, mib * MIB, samples, 0).items()}
        programs["assay"] = lambda _: {op: best(worker.record(case_of(op, threads), samples, 0.001, 0.004)) for op in operations}
        ours = ", ".join(f"{op} {int(facts['array_bytes']) / MIB:.0f}" for op, facts in sizes.items())
        print(f"# memory, {threads}: CPUs {','.join(map(str, cpus))}; MiB per array: {', '.join(peers)}, loop {mib}; assay {ours}; "
              f"{options.rounds} rounds, each the best of {samples}")
        rounds = []
        for number in range(options.rounds):
            order = list(programs)
            order = order[number % len(order):] + order[:number % len(order)]
            rounds.append({name: programs[name](cpus) for name in order})
    print(f"  {'GB/s, medians':13} " + " ".join(f"{name:>11}" for name in programs))
    for op in OPERATIONS:
        rates = {name: [r[name][op] for r in rounds if op in r[name]] for name in programs}
        print(f"  {op:13} " + " ".join(f"{statistics.median(v) / 1e9:11.2f}" if v else f"{'-':>11}" for v in rates.values()))
        fastest = [max(r[peer][op] for peer in peers if op in r[peer]) for r in rounds]
        for name in ("assay", "loop"):
            if not rates[name]:
                continue
            ratios = [one / other for one, other in zip(rates[name], fastest)]
            text = f"{statistics.median(ratios):.2f} [{min(ratios):.2f} {max(ratios):.2f}]"
            goal = {"at_least": 1.0} if name == "assay" and op in ("copy", "triad") else {}
            label = f"DRAM {op}, {len(cpus)} thread{'s' if len(cpus) > 1 else ''}: {name} / best of {' and '.join(peers)}"
            if goal:
                table.add(label, statistics.median(ratios), text, **goal)
            else:
                print(f"  {label}: {text}")
    table.numbers[f"memory, {threads}"] = rounds


def run(options, table):
    if not (options.babelstream or options.stream):
        table.missing("DRAM copy and triad", "give --babelstream DIR and --stream FILE", ">= 1.0")
        return
    measure(options, table, ONE, "one")
    if len(CPUS) > 1:
        measure(options, table, CPUS, "all")
