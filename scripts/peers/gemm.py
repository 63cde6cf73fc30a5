# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on one core.

Through the harness: each pair runs compute/gemm/... by its worker and the same call in a plain loop (BUILD/peer_loops), one
after the other, on the same CPU and with the same n, the order changing from pair to pair; the fastest of the same number of
blocks counts on both sides. Wall time: run it on a quiet machine.

Own f32: CPU time (what other programs take is left out), blocks of both in turns within one process. Once with the code path
that OpenBLAS chooses itself and once with the best one that this CPU can run (OPENBLAS_CORETYPE): OpenBLAS falls back to very
old code on a CPU that is younger than the library, and beating that says nothing.
"""
import statistics

from peers.common import ONE, Worker, best, loops, quartiles

SAMPLES = 8
LIBRARIES = [("openblas", "f32"), ("openblas", "f64"), ("onednn", "f32"), ("onednn", "bf16"), ("onednn", "int8")]


def through_harness(options, table, library, number_type):
    case, name = f"compute/gemm/version:{library}/type:{number_type}/threads:one", f"gemm_{library}_{number_type}"
    label = f"{library} {number_type} through the harness / plain loop"
    pairs, n = [], "0"

    def harness():
        with Worker(options.build, ONE) as worker:  # a fresh process, like the other side
            record = worker.record(case, SAMPLES, 0.1, 0.3)
        return best(record), record["facts"]["n"]

    def plain():
        return loops(options.build, [name], ONE, n, SAMPLES, 100)[name]["best"]

    try:
        _, n = harness()
        for number in range(options.pairs):
            if number % 2 == 0:
                ours = harness()[0]
                theirs = plain()
            else:
                theirs = plain()
                ours = harness()[0]
            pairs.append((ours, theirs))
    except (RuntimeError, KeyError) as problem:
        table.missing(label, problem, ">= 0.98")
        return
    rates = [statistics.median(side) / 1e9 for side in zip(*pairs)]
    print(f"# {label}: n {n}, CPU {ONE[0]}, {len(pairs)} pairs; {rates[0]:.1f} and {rates[1]:.1f} Gop/s")
    ratios = [a / b for a, b in pairs]
    table.add(label, statistics.median(ratios), quartiles(ratios), at_least=0.98)


def best_core():
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith(("flags", "Features"))), [])
    return "SkylakeX" if "avx512dq" in flags else "Haswell" if "avx2" in flags else None


def own(options, table):
    asked = best_core()
    for core in dict.fromkeys([None, asked]):
        for n in options.sizes:
            more = {"OPENBLAS_CORETYPE": core} if core else {}
            try:
                rows = loops(options.build, ["gemm_own_f32", "gemm_openblas_f32"], ONE, n, options.pairs, 100, "--cpu-time", **more)
            except RuntimeError as problem:
                table.missing("own f32 / OpenBLAS", problem, ">= 0.85")
                return
            mine, theirs = rows["gemm_own_f32"], rows["gemm_openblas_f32"]
            ratios = [a / b for a, b in zip(mine["samples"], theirs["samples"])]
            kernels = theirs["note"].split(", ")[-1]
            label = f"own f32 / OpenBLAS, {kernels} kernels, n {n}, CPU time"
            print(f"# {label}: CPU {ONE[0]}; {mine['median'] / 1e9:.1f} and {theirs['median'] / 1e9:.1f} Gop/s"
                  f"{'' if core else '; kernels as it chose itself'}")
            goal = {"at_least": 0.85} if core == asked else {}
            table.add(label, statistics.median(ratios), quartiles(ratios), **goal)


def run(options, table):
    for library, number_type in LIBRARIES:
        through_harness(options, table, library, number_type)
    own(options, table)
