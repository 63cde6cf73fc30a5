// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A worker for CUDA devices: the benchmarks' CUDA rows. The build says which: with ASSAY_WORKER "simt" and ASSAY_DEVICE_KIND
// "simt" it is the one that runs the kernels on the CPU, over the runtime library of tests/simt.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "harness/base/error.h"
#include "harness/device/cuda_device.h"
#include "harness/device/cuda_probes.h"
#include "harness/worker/registry.h"
#include "harness/worker/run.h"
#include "harness/worker/show.h"
#include "harness/worker/worker.h"

namespace {

using namespace assay;

int number_of(const std::string& id) { return std::atoi(id.substr(id.find(':') + 1).c_str()); }

// The device of a case, opened when the first one asks for it. A process that has lost it, or could not open it, is of no
// use: whatever the record says, the worker leaves after it.
class Devices {
 public:
  Record run(const CaseRequest& request, Link& link) {
    Record record = run_case(request, ASSAY_WORKER, pool_, link, [&]() -> Accelerator& { return open(request); });
    lost_ = lost_ || (device_ != nullptr && !device_->loss().empty());
    return record;
  }
  bool lost() const { return lost_; }

 private:
  Accelerator& open(const CaseRequest& request) {
    const std::string id = request.device_set.empty() ? "" : request.device_set.front();
    if (device_ == nullptr || device_->info().id != id) {
      device_.reset();
      lost_ = true;  // until it is open
      device_ = open_cuda_device(ASSAY_DEVICE_KIND, number_of(id));
      lost_ = false;
    }
    return *device_;
  }

  MemoryPool pool_;
  std::unique_ptr<Accelerator> device_;
  bool lost_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  Devices devices;
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);  // cuda:0 is the first on the bus, as everywhere in Assay
  WorkerProgram program;
  program.manifest = make_manifest(ASSAY_WORKER, ASSAY_DEVICE_KIND, kernels::Backend::cuda);
  if (ASSAY_DEVICE_KIND == std::string("cuda")) program.manifest.built = {{"cuda", cuda_built_with()}};
  program.devices = [] { return cuda_devices(ASSAY_DEVICE_KIND); };
  program.probes = {{"device", [] { return open_cuda_device(ASSAY_DEVICE_KIND, 0)->info().name + " can be opened"; }}};
  for (const CudaProbe& probe : cuda_probes(ASSAY_DEVICE_KIND)) program.probes.push_back({probe.name, probe.run});
  program.run_case = [&devices](const CaseRequest& request, Link& link) { return devices.run(request, link); };
  program.is_over = [&devices] { return devices.lost(); };
  program.show = [](const std::string& id) { return show_facts(*open_cuda_device(ASSAY_DEVICE_KIND, number_of(id))); };
  program.default_device = ASSAY_DEVICE_KIND ":0";
  return worker_main(argc, argv, program);
}
