// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What only a program can show: does the driver start, is a context made, does memory come, does a kernel end, is its
// result right? A worker tries them from below, and the first that fails names the layer. Traps: a worker that isn't
// built leaves this unknown, never sound; so does a device that is simulated.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/check.h"

namespace assay::doctor {
namespace {

void tried(const Case& one, Result& result, const std::string& name, const std::string& question) {
  const Fact<std::vector<ProbeResult>>& probes = one.facts.probes;
  const auto unknown = [&](const std::string& why) {
    result.cannot_know(fmt::format("{} ({})", question, why), Known::absent);
  };
  if (!result.know(probes)) return;
  if (!probes && !result.know(one.facts.bus)) return;
  if (!probes && !one.facts.has_gpu()) return result.not_applicable("no GPU is on the bus");
  if (!probes) return unknown("not built: no worker for CUDA devices is here");
  const auto probe =
      std::find_if(probes->begin(), probes->end(), [&](const ProbeResult& other) { return other.name == name; });
  if (probe == probes->end()) return unknown("not built: no worker here can try it");
  if (probe->outcome == "not_run") return unknown("not tried: a link before it is not ok");
  if (probe->outcome == doctor::no_code)
    return unknown(fmt::format("not tried: assay-worker-{} has no machine code for a device", shown(probe->worker)));
  if (probe->outcome == "ok") return probe->simulated ? unknown("only a simulated device was tried, no GPU") : void();
  const char* where = probe->simulated ? "on a simulated device: " : "";
  const auto found = [&](const std::string& what) {
    result.found(probe->simulated ? Severity::note : Severity::broken, where + name + ": " + what);
  };
  result.because(fmt::format("assay-worker-{} --probe {}", shown(probe->worker), name), shown(probe->detail, 180));
  if (probe->outcome == "late")
    found("no answer in time");
  else if (probe->outcome == "crashed")
    found("the program that tried it crashed");
  else if (probe->code != 0)
    found(fmt::format("{} fails with CUDA error {}", shown(probe->call), probe->code));
  else
    found("it fails, and no call of CUDA's says why");
  if (probe->code != 0) result.fix("any", fmt::format("assay explain 'CUDA error {}'", probe->code));
}

struct Link {
  const char *name, *after;
  Layer layer;
  const char *title, *question, *why, *what;
};

constexpr Link links[] = {
    {"init", "", Layer::driver, "a program can start the driver", "whether a program can start the driver",
     "versions and nodes may be right and the driver damaged; every program begins with this",
     "read the kernel's log with assay explain; reinstall the driver, restart"},
    {"context", "init", Layer::driver, "a program gets a context on every GPU", "whether a program gets a context",
     "many faults only show here: exclusive mode, MIG, UVM, a GPU that is lost",
     "nvidia-smi -q -d COMPUTE; modprobe nvidia_uvm; read the kernel's log"},
    {"allocation", "context", Layer::runtime, "a program gets memory on every GPU", "whether a program gets memory",
     "another process may hold all of it", "nvidia-smi shows who holds memory"},
    {"kernel", "allocation", Layer::runtime, "a kernel can be started on every GPU", "whether a kernel can be started",
     "machine code and device must fit", "use a build that has code for this GPU"},
    {"synchronise", "kernel", Layer::runtime, "a kernel ends, and its result is right",
     "whether a kernel ends with the right result", "before that neither memory nor errors are real",
     "drain the GPU; read the kernel's log for Xid; run a stress test"},
    {"product_bf16", "synchronise", Layer::runtime, "a product of bf16 numbers is right",
     "whether a product of bf16 numbers is right", "training stands on it", "drain the GPU; run a stress test"},
    {"tensor", "product_bf16", Layer::framework, "torch computes on the GPU", "whether torch computes on the GPU",
     "torch falls back to the CPU without a word", "python -c 'import torch; torch.zeros(1).cuda()' says more"},
    {"nccl", "synchronise", Layer::library, "NCCL works on one rank", "whether NCCL works on one rank",
     "distributed training begins with it", "NCCL_DEBUG=INFO says more"},
};

std::vector<Check> checks_of_links() {
  std::vector<Check> checks;
  for (const Link& link : links) {
    Check check{fmt::format("probe.{}", link.name), link.layer, link.title};
    check.needs = Needs::nothing;
    check.why = link.why;
    check.fixes = {{"any", link.what}};
    check.after = {"driver.nvml",          "module.loaded",  "node.control",     "node.uvm",
                   "driver.libcuda",       "driver.match",   "driver.stub",      "cluster.fabric_manager",
                   "cluster.fabric_state", "container.hook", "health.mig_empty", "health.prohibited",
                   "bus.answers"};
    if (*link.after != '\0') check.after.push_back(fmt::format("probe.{}", link.after));
    check.run = [link](const Case& one, Result& result) { tried(one, result, link.name, link.question); };
    checks.push_back(std::move(check));
  }
  return checks;
}

const Registered checks{checks_of_links()};

}  // namespace
}  // namespace assay::doctor
