// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The program around a worker: protocol under `assay` (--assay-fd N), a plain Google Benchmark program by hand. What a
// worker is made of comes as a WorkerProgram, so the CPU worker, the fake one and later ones share this file.
//
//   assay-worker-X --assay-fd N      speak the protocol of harness/protocol.h on stdin and descriptor N
//   assay-worker-X --manifest FILE   write what it can do ("-": standard output)
//   assay-worker-X --devices         device facts as JSON
//   assay-worker-X --probe NAME      one check, one JSON line (for doctor); of CUDA devices: device/cuda_probes.h
//   assay-worker-X --show DEVICE     what the device shows of itself by working, one JSON line (for identify)
//   assay-worker-X --benchmark_...   Google Benchmark's own flags: list_tests, filter, format, out, ...
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/shown_fact.h"
#include "harness/manifest.h"
#include "harness/protocol.h"
#include "harness/record.h"
#include "harness/worker/link.h"

namespace assay {

struct Probe {
  std::string name;
  // Returns the detail of success; throws with the reason of failure.
  std::function<std::string()> run;
};

struct WorkerProgram {
  Manifest manifest;
  std::function<std::vector<DeviceInfo>()> devices;
  std::vector<Probe> probes;
  std::function<Record(const CaseRequest&, Link&)> run_case;
  // Asked after each case; true: this process can do no other, and leaves. The parent starts a new one.
  std::function<bool()> is_over = nullptr;
  std::string default_device = "cpu:0";  // by hand
  // Of a device by its id; null: these devices are none that could be forged.
  std::function<std::vector<ShownFact>(const std::string&)> show = nullptr;
};

int worker_main(int argc, char** argv, const WorkerProgram& program);

// --- parts, used by worker_main ------------------------------------------------------------------------------------
// Speaks the protocol until quit or end of input; `fd` is the descriptor for messages to the parent.
int serve(int fd, const WorkerProgram& program);
// Runs as a Google Benchmark program; returns the exit code of the outcome table.
int run_by_hand(int argc, char** argv, const WorkerProgram& program);

}  // namespace assay
