# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: what scripts/mutants and tests/ptx/mutants share. A bug counts as caught by a test that fails, by a crash of
the program's own, or by an endless loop; how a program ends otherwise says nothing about the tests."""
import csv
import re
import resource
import signal

CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP}


class Broken(Exception):
    """The list or the build is wrong, or the machine, which says nothing about the tests."""


def read_mutants(path, only=""):
    """Lines of a table of mutants that contain a text; none is an error, because nothing would be proved."""
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        mutants = [dict(row, line=reader.line_num) for row in reader]
    if only:
        mutants = [m for m in mutants if only in " ".join(str(v) for v in m.values())]
    if not mutants:
        raise Broken(f"no line of {path} contains '{only}'")
    return mutants


def edited(mutant, path):
    """The text of a file with the edit, whose `find` must be there exactly once."""
    text = path.read_text()
    find, replace = (mutant[k].replace("\\n", "\n") for k in ("find", "replace"))
    if text.count(find) != 1:
        raise Broken(f"line {mutant['line']}: '{find}' is in {path} {text.count(find)} times, not once")
    return text.replace(find, replace)


def limit_cpu(seconds):
    """For a child. CPU time: the machine may be busy, and tests of the rigs never wait."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def verdict(status, output):
    """passed, failed, crashed or endless, of a GoogleTest program that ended so and printed this."""
    ran = re.search(r"^\[=+\] (\d+) tests? from \d+ test suites? ran", output, re.MULTILINE)
    if status == 0 and ran and int(ran[1]) > 0:
        return "passed"
    if status == 1 and re.search(r"^\[  FAILED  \] ", output, re.MULTILINE):
        return "failed"
    if status == -signal.SIGXCPU:
        return "endless"
    if status < 0 and -status in CRASHES:
        return "crashed"
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"
    raise Broken(f"the tests: {how}, and not by a test that passed or failed, or a crash: {output[-300:].strip()}")
