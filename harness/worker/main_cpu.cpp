// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay-worker-cpu: the benchmarks' CPU rows.
#include <omp.h>

#include "harness/worker/registry.h"
#include "harness/worker/run.h"
#include "harness/worker/worker.h"
#include "kernels/vendor_gemm.h"

namespace {

// "OpenBLAS 0.3.21" -> "0.3.21"; empty: this build has no such library.
std::string version_of(assay::kernels::VendorLibrary library) {
  const std::string text = assay::kernels::vendor_version(library);
  return text.substr(text.rfind(' ') + 1);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  MemoryPool pool;
  WorkerProgram program;
  program.manifest = make_manifest("cpu", "cpu");
  program.manifest.built = {{"openblas", version_of(kernels::VendorLibrary::openblas)},
                            {"onednn", version_of(kernels::VendorLibrary::onednn)}};
  program.devices = [] { return std::vector<DeviceInfo>{cpu_device()}; };
  program.probes = {{"threads", [] { return std::to_string(omp_get_max_threads()) + " OpenMP threads"; }}};
  program.run_case = [&pool](const CaseRequest& request, Link& link) { return run_case(request, "cpu", pool, link); };
  return worker_main(argc, argv, program);
}
