// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay-worker-cpu: the benchmarks' CPU rows.
#include <omp.h>

#include "harness/worker/registry.h"
#include "harness/worker/run.h"
#include "harness/worker/worker.h"

int main(int argc, char** argv) {
  using namespace assay;
  MemoryPool pool;
  WorkerProgram program;
  program.manifest = make_manifest("cpu", {"cpu"});
  program.devices = [] { return std::vector<DeviceInfo>{cpu_device()}; };
  program.probes = {{"threads", [] { return std::to_string(omp_get_max_threads()) + " OpenMP threads"; }}};
  program.run_case = [&pool](const CaseRequest& request, Link& link) { return run_case(request, "cpu", pool, link); };
  return worker_main(argc, argv, program);
}
