# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""What test_doctor_probes and test_simt_probes share: assay doctor's checks of the links that a worker tries."""
import harness

NAMES = ["init", "context", "allocation", "kernel", "synchronise", "product_bf16"]


class Probes(harness.Case):
    def doctor(self, *options, env=None):
        result = self.assay("doctor", "--format", "json", *options, env=env)
        self.assertEqual(result.stderr, "")
        answer = self.valid("doctor.v1", result.stdout)
        self.assertEqual(answer["exit_code"], result.returncode)
        return answer, {c["id"].removeprefix("probe."): c for c in answer["checks"] if c["id"].startswith("probe.")}

    def outcomes(self, answer):
        return {p["name"]: p["outcome"] for p in answer["facts"]["probes"]["value"]}
