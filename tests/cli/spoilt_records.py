# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Records that are slightly wrong, each made from a good one by one change. Neither the schema (test_schemas) nor assay itself
(test_spoilt_records) may take them."""


def at(record, path):
    for key in path[:-1]:
        record = record[key]
    return record, path[-1]


def put(path, value):
    def change(record):
        node, key = at(record, path)
        node[key] = value

    return change


def drop(path):
    def change(record):
        node, key = at(record, path)
        del node[key]

    return change


def both(*changes):
    def change(record):
        for one in changes:
            one(record)

    return change


MUTATIONS = {
    "no schema": drop(["schema"]),
    "foreign schema version": put(["schema"], "assay.record.v2"),
    "no run_id": drop(["run_id"]),
    "a flag without a meaning": put(["series", 0, "disturbed", 0], 256),
    "a CPU below 0": put(["placement", "cpus"], [-3]),
    "session 0": put(["session"], 0),
    "process as text": put(["process"], "1"),
    "unknown outcome": put(["outcome"], "GREAT"),
    "a run's word as outcome of a case": put(["outcome"], "INCOMPLETE"),
    "PASS, which only a judgement may say": put(["outcome"], "PASS"),
    "MEASURED with a reason": put(["reason"], "because"),
    "MEASURED without work": put(["work", "iterations"], 0),
    "MEASURED without comparing": put(["elements_compared"], 0),
    "MEASURED without a metric": put(["metrics"], []),
    "MEASURED with a mismatch": put(["verification", "mismatches"], 1),
    "ERROR without a failure": put(["outcome"], "ERROR"),
    "ERROR of an unknown kind": both(put(["outcome"], "ERROR"), put(["reason"], "so"),
                                     put(["failure"], {"kind": "bad luck", "detail": "", "stderr_tail": []})),
    "FAIL without a mismatch": both(put(["outcome"], "FAIL"), put(["reason"], "so")),
    "negative seconds": put(["phases_s", "measure"], -0.5),
    "negative sample": put(["series", 0, "seconds", 0], -1.0),
    "NaN as text": put(["metrics", 0, "samples", 0], "nan"),
    "seconds as text": put(["wall_s"], "3.0"),
    "extra field": put(["surprise"], 1),
    "extra field deep inside": put(["metrics", 0, "limit", "surprise"], 1),
    "no unit": drop(["metrics", 0, "unit"]),
    "unknown direction": put(["metrics", 0, "better"], "sideways"),
    "unknown limit kind": put(["metrics", 0, "limit", "kind"], "guess"),
    "half an iteration": put(["series", 0, "iterations", 0], 0.5),
    "unknown stop reason": put(["series", 0, "stop_reason"], "tired"),
    "a device that is none": put(["device_set"], ["cpu"]),
    "no device": put(["device_set"], []),
    "no time": put(["started_at"], ""),
    "local time": put(["started_at"], "2026-11-30 17:05:01"),
    "case name of Google Benchmark": put(["case"], "memory/stream/manual_time"),
    "negative bytes": put(["memory", "host_resident_peak_bytes"], -1),
    "knob that is no text": put(["test_knobs"], {"ASSAY_TEST_SLOWDOWN": 1.03}),
    "simulated as a number": put(["simulated"], 0),
    "no origin": drop(["imported"]),
    "an origin without its file": put(["imported"], {"format": "csv"}),
    "no time, as if imported": put(["started_at"], None),
    "imported, with the work of a measured one":
        put(["imported"], {"format": "csv", "file": "a", "xxh3": "0123456789abcdef", "tool_version": None}),
}

# Of a record as import writes one.
IMPORTED_MUTATIONS = {
    "no hash": drop(["imported", "xxh3"]),
    "no format": put(["imported", "format"], ""),
    "simulated": put(["simulated"], True),
    "an iteration": put(["work", "iterations"], 1),
    "a time of its own": put(["phases_s", "measure"], 0.5),
    "an element compared": put(["elements_compared"], 1),
    "a method": put(["verification", "method"], "bitwise"),
    "a CPU": put(["placement", "cpus"], [0]),
    "FAIL, which needs a comparison": put(["outcome"], "FAIL"),
    "without a metric": put(["metrics"], []),
    "without its origin": put(["imported"], None),
    "no case": put(["case"], ""),
}
