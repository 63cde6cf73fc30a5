# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of tests and nvcc-built kernels under the PTX interpreter, and reads what its kernels did."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from mutation import Broken, limit_cpu  # noqa: E402

PREEMPT = 20  # a thread gives way to another one at about every 20th access
CPU_LIMIT_S, WALL_LIMIT_S = 240, 1800
ALL = "*-*Conflicts*"  # of banks, which only tests/simt counts
NOT_IMPLEMENTED = "ptxemu: not implemented: "


Kernel = collections.namedtuple("Kernel", "file name")  # "stream.cu", "map_vector<...>"
Outcome = collections.namedtuple("Outcome", "code passed failed failed_alone launches text ptx")


def program_or_skip(build):
    """The program in the build folder; without one, the reason, and exit 77."""
    reason = build / "tests" / "ptx" / "missing.txt"
    if reason.exists():
        print(reason.read_text().strip())
        sys.exit(77)
    program = build / "assay_ptx_tests"
    if not program.exists():
        raise Broken(f"no built assay_ptx_tests in {build}: run scripts/test first")
    return program


def short(mangled, readable):
    """The file of a kernel and its name without what is the same for all of them: namespaces and parameters."""
    for noise in ("(anonymous namespace)::", "assay::kernels::"):
        readable = readable.replace(noise, "")
    readable = readable.removeprefix("void ")
    depth = 0
    for i, c in enumerate(readable):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            readable = readable[:i]
            break
    file = re.search(r"_GLOBAL__N__[0-9a-f]+_\d+_(\w+?)_cu_", mangled)
    return Kernel(file[1] + ".cu" if file else "?", readable)


def run(build, program, select=ALL, schedule="random", **more):
    """Runs the tests. `failed_alone` are those that failed before a launch did; `launches` is {(kernel, mangled): {test:
    (launches, failures)}}, `ptx` what was interpreted."""
    with tempfile.TemporaryDirectory(prefix="assay-ptx-") as folder:
        results, kernels = pathlib.Path(folder) / "tests.json", pathlib.Path(folder) / "kernels.tsv"
        ptx = pathlib.Path(folder) / "ptx.txt"
        ours = ("PTXEMU_", "CUSHIM_", "GTEST_", "ASSAY_")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        environment |= {"LD_LIBRARY_PATH": str(build / "tests/ptx/emulator/ptxemu/lib"), "PTXEMU_CHECK": "1",
                        "PTXEMU_PREEMPT": str(PREEMPT), "PTXEMU_VERBOSE": "1", "CUSHIM_SCHED": schedule,
                        "ASSAY_PTX_KERNELS": str(kernels), "ASSAY_PTX_TEXT": str(ptx)} | {k: str(v) for k, v in more.items()}
        command = [program, f"--gtest_filter={select}", f"--gtest_output=json:{results}"]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, errors="replace",
                              check=False, timeout=WALL_LIMIT_S, preexec_fn=lambda: limit_cpu(CPU_LIMIT_S))
        text = done.stdout + done.stderr
        passed, failed, launches = set(), set(), {}
        failed_alone = set(re.findall(r"^failed before any launch did: (\S+)$", text, re.MULTILINE))
        if results.exists() and kernels.exists():
            for suite in json.loads(results.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    (failed if "failures" in test else passed).add(f"{suite['name']}.{test['name']}")
            for line in kernels.read_text().splitlines():
                mangled, readable, test, count, failures = line.split("\t")
                tests = launches.setdefault((short(mangled, readable), mangled), {})
                if test:
                    tests[test] = (int(count), int(failures))
        code = ptx.read_text(errors="replace") if ptx.exists() else ""
        return Outcome(done.returncode, passed, failed, failed_alone, launches, text, code)


def statements_by_kernel(ptx):
    """{mangled name: its PTX statements}, of kernels that have code for this capability: the others end in a trap (ptx.cuh)."""
    found = {}
    for body in re.finditer(r"\.entry\s+(\w+)\s*\(.*?\{(.*?)(?=\.entry\s|\.version\s|\Z)", ptx, re.DOTALL):
        code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", body[2], flags=re.DOTALL)
        statements = {plain(s) for s in code.split(";")}
        if "trap" not in statements:
            found[body[1]] = statements
    return found


def plain(statement):
    """Without labels, braces of scopes, and with single blanks."""
    return re.sub(r"^(?:[{}]\s*|[\w$]+:\s+)*", "", " ".join(statement.split()))


def unsupported_instructions(outcome):
    """{mangled kernel: instructions of its that the interpreter doesn't know}, ran or not."""
    unknown = {plain(line[len(NOT_IMPLEMENTED):]) for line in outcome.text.splitlines()
               if line.startswith(NOT_IMPLEMENTED)}
    result = {}
    for mangled, statements in statements_by_kernel(outcome.ptx).items():
        if names := {instruction(s) for s in statements & unknown}:
            result[mangled] = names
    return result


def instruction(statement):
    return next(w for w in statement.split() if not w.startswith("@"))
