// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The scenario of `--device fake:default` and of assay-worker-fake's manifest: one healthy device, a few rows of every
// sort (rate, latency, arithmetic; one case that the device can't do). The keys are explained in
// tests/fixtures/scenarios/example.toml.
#pragma once

namespace assay {

inline constexpr const char* default_scenario = R"toml(
name = "default"
seed = 1

[device]
name = "Fake accelerator"
class = "fake-a"
pci_address = "0000:f0:00.0"
uuid = "FAKE-d0000000"
driver = "1.0"
clock_hz = 1.5e9
facts = { memory_bytes = 8.0e10, units = 64, numa_nodes = 1 }

[model]
session_sd = 0.001
noise_sd = 0.002
rho = 0.3
clock_sd = 0.0005

[[benchmark]]
name = "memory/stream"
summary = "sustained memory bandwidth (scripted)"
cases = ["op:copy/type:f64/size:dram", "op:triad/type:f64/size:dram", "op:read/type:f32/size:dram"]
rank = 10
clock_elasticity = 0
[[benchmark.metric]]
name = "bandwidth"
unit = "B/s"
median = 3.0e12
limit = 3.35e12
limit_source = "the scenario's bus: width x transfer rate"

[[benchmark]]
name = "memory/latency"
summary = "dependent loads (scripted)"
cases = ["size:l2", "size:dram"]
rank = 30
clock_elasticity = 0.5
[[benchmark.metric]]
name = "latency"
unit = "s"
median = 6.0e-7

[[benchmark]]
name = "compute/fma"
summary = "multiply-add rate (scripted)"
cases = ["type:f32", "type:f64"]
rank = 20
[[benchmark.metric]]
name = "rate"
unit = "FLOP/s"
median = 6.0e13
limit = 6.7e13
limit_source = "the scenario's units x lanes x clock"

[[benchmark]]
name = "transfer/memcpy"
summary = "copies between memories (scripted); the remote one needs a second NUMA node, which this device hasn't"
cases = ["to:remote"]
rank = 60
[[benchmark.needs]]
fact = "numa_nodes"
at_least = 2
why = "copies between NUMA nodes need two"
[[benchmark.metric]]
name = "bandwidth"
unit = "B/s"
median = 5.0e10
)toml";

}  // namespace assay
