#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# For the black-box tests in this folder: runs the built `assay` with its own profiles and workers in a temporary folder,
# and reads run folders back, checked by a JSON Schema validator that isn't ours. A test is a unittest file that ends in `harness.main()`; the build
# folder is its first argument.
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build"
ASSAY = BUILD / "assay"

_loader = importlib.machinery.SourceFileLoader("validate", str(ROOT / "tests" / "validate"))
validate = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", _loader))
_loader.exec_module(validate)

# What a run folder holds, and the schema of each file.
RUN_FILES = {"plan.json": "plan.v1", "records.jsonl": "record.v1", "run.json": "run.v1", "events.jsonl": "event.v1",
             "telemetry.jsonl": "telemetry.v1"}
VERDICT_FILES = {"comparison.json": "compare.v1"}  # of `assay run --against` alone

FAST_PROFILE = """summary = "for tests: short, and with little patience"
sessions = {sessions}
[policy]
block_s = 0.001
warmup_max_s = 0.01
measure_min_s = 0.01
measure_max_s = 0.02
samples_min = 2
[patience]
heartbeat_s = {heartbeat_s}
start_s = {start_s}
grace_s = {grace_s}
deadline_factor = 1
deadline_extra_s = {deadline_extra_s}
"""


def manifest(worker, hows, benchmark="rogue/behave", devices=("cpu",), hidden=False, needs=()):
    cases = [
        {"name": f"{benchmark}/how:{how}", "params": {"how": how}, "needs": list(needs), "rank": 50, "setup_s": 0.01, "share": 1}
        for how in hows
    ]
    metric = {"name": "rate", "unit": "B/s", "better": "higher", "summary_text": "bytes moved"}
    return {
        "schema": "assay.manifest.v1", "worker": worker, "version": "1", "commit": "", "devices": list(devices), "built": {},
        "benchmarks": [{"name": benchmark, "summary": "misbehaves", "hidden": hidden, "devices": list(devices),
                        "metrics": [metric], "cases": cases}],
    }


class Case(unittest.TestCase):
    """A temporary folder with profiles/ and workers/, and what is in a run folder. Whatever a test leaves in run folders is
    checked against the schemas, except files that it damages on purpose and names in `damaged`."""

    damaged = ()

    def setUp(self):
        self.tmp = Path(tempfile.mkdtemp(prefix="assay-test-"))
        self.addCleanup(shutil.rmtree, self.tmp, ignore_errors=True)
        self.addCleanup(self.check_outputs)
        (self.tmp / "profiles").mkdir()
        (self.tmp / "workers").mkdir()
        self.profile()
        self.env = {**os.environ, "ASSAY_PROFILE_DIR": str(self.tmp / "profiles"), "NO_COLOR": "1",
                    "ASSAY_WORKER_DIR": str(self.tmp / "workers")}

    def profile(self, name="quick", sessions=1, heartbeat_s=20, start_s=20, grace_s=1, deadline_extra_s=60, extra=""):
        text = FAST_PROFILE.format(sessions=sessions, heartbeat_s=heartbeat_s, start_s=start_s, grace_s=grace_s,
                                   deadline_extra_s=deadline_extra_s)
        (self.tmp / "profiles" / f"{name}.toml").write_text(text + extra)

    def add_worker(self, name, program, contents):
        """`program`: a script of fixtures/workers, a path, or None for a worker whose program is missing."""
        path = self.tmp / "workers" / f"assay-worker-{name}"
        Path(f"{path}.manifest.json").write_text(json.dumps(contents))
        if program is not None:
            shutil.copy(FIXTURES / "workers" / program, path)
            path.chmod(0o755)
        return path

    def rogue(self, *hows, name="rogue", program="rogue.py", **options):
        return self.add_worker(name, program, manifest(name, hows, **options))

    def check_outputs(self):
        for plan in self.tmp.rglob("plan.json"):
            for file in plan.parent.iterdir():
                schema = {**RUN_FILES, **VERDICT_FILES}.get(file.name)
                if schema and file.name not in self.damaged:
                    self.assertEqual(validate.file_problems(schema, file), [], str(file))

    def valid(self, schema, text, lines=False):
        """Text that is one JSON value (or one a line) of this schema; returns it parsed."""
        self.assertEqual(validate.text_problems(schema, text, lines), [], text[:2000])
        return [validate.parse(line) for line in text.splitlines()] if lines else validate.parse(text)

    def command(self, *arguments):
        return [str(ASSAY), *map(str, arguments)]

    def assay(self, *arguments, env=None, timeout=120, preexec_fn=None):
        return subprocess.run(self.command(*arguments), cwd=self.tmp, env={**self.env, **(env or {})}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, errors="replace",
                              preexec_fn=preexec_fn)

    def run_assay(self, *arguments, expect=None, **options):
        """assay run into the folder `r`; returns (result, records)."""
        result = self.assay("run", "--out", self.tmp / "r", *arguments, **options)
        if expect is not None:
            self.assertEqual(result.returncode, expect, result.stderr + result.stdout)
        return result, self.records()

    def cut(self, folder="r"):
        """As if the run had been killed before its end: no run.json, no last event."""
        (self.tmp / folder / "run.json").unlink(missing_ok=True)
        events = [line for line in self.events(folder) if line["event"] != "run_end"]
        (self.tmp / folder / "events.jsonl").write_text("".join(json.dumps(e, separators=(",", ":")) + "\n" for e in events))

    def records(self, folder="r"):
        path = self.tmp / folder / "records.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def events(self, folder="r"):
        return [json.loads(line) for line in (self.tmp / folder / "events.jsonl").read_text().splitlines()]

    def json(self, name, folder="r"):
        return json.loads((self.tmp / folder / name).read_text())

    def usage_error(self, *arguments, contains=()):
        result = self.assay(*arguments)
        self.complaint(result, 64, contains)

    def complaint(self, result, code, contains):
        """One line on standard error, with these words."""
        self.assertEqual(result.returncode, code, result.stderr)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for words in contains:
            self.assertIn(words, lines[0])


def main():
    if not ASSAY.exists():
        sys.exit(f"{ASSAY} is not there: build first")
    result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2, exit=False).result
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    if not result.skipped:
        sys.exit(0)
    if len(result.skipped) < result.testsRun:
        sys.exit("a skip among checks that passed would be taken for a pass: give what depends on the machine a script of its own")
    sys.exit(77)
