#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# For black-box tests on scripted devices: harness.Case with the built worker and the shipped profiles (time is virtual, so
# they cost nothing), and run folders as objects, each file of them checked by an independent validator.
import json

import harness

validate = harness.validate
SCENARIOS = harness.FIXTURES / "scenarios"


def device(name):
    return f"fake:{SCENARIOS / name}.toml"


class Run:
    def __init__(self, folder, result):
        self.folder, self.result = folder, result
        self.plan, self.run = (json.loads((folder / f"{name}.json").read_text()) for name in ("plan", "run"))
        self.records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]

    def of(self, case, session=None, on=None):
        """Records of the cases whose names start with `case`."""
        return [r for r in self.records if r["case"].startswith(case) and session in (None, r["session"])
                and (on is None or r["device_set"] == [on])]

    def median(self, case, axis=None, on=None):
        """Of the first metric of the first such record."""
        metric = self.of(case, on=on)[0]["metrics"][0]
        return (metric[axis] if axis else metric)["summary"]["median"]

    def samples(self):
        return [(r["case"], r["session"], m["name"], m["samples"]) for r in self.records for m in r["metrics"]]


class FakeCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.env["ASSAY_WORKER_DIR"] = str(harness.BUILD)
        self.env["ASSAY_PROFILE_DIR"] = str(harness.BUILD / "profiles")
        self.runs = 0

    def scenario(self, text, name="s.toml"):
        """Writes a scenario; returns the name of its device."""
        (self.tmp / name).write_text(text)
        return f"fake:{name}"

    def go(self, *arguments, expect=0, env=None):
        """assay run into a fresh folder, everything in it validated."""
        self.runs += 1
        folder = self.tmp / f"run{self.runs}"
        result = self.assay("run", "--quiet", "--out", folder, *arguments, env=env)
        self.assertEqual(result.returncode, expect, result.stderr + result.stdout)
        for name, schema in [("plan.json", "plan.v1"), ("run.json", "run.v1"), ("records.jsonl", "record.v1"),
                             ("events.jsonl", "event.v1")]:
            self.assertEqual(validate.file_problems(schema, folder / name), [], f"{folder / name}")
        run = Run(folder, result)
        self.assertTrue(run.run["simulated"])
        for record in run.records:
            self.assertTrue(record["simulated"], record["case"])
        return run
