// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Device nodes: there, one for each GPU, and open to this user.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool node_missing(Result& result, const Fact<Status>& node) {
  if (!result.know(node) || node) return false;
  result.because(node);
  return true;
}

void control(const Case& one, Result& result) {
  if (node_missing(result, one.facts.nodes.control)) result.found("/dev/nvidiactl is not there");
}

void uvm(const Case& one, Result& result) {
  if (node_missing(result, one.facts.nodes.uvm)) result.found("/dev/nvidia-uvm is not there");
}

void per_gpu(const Case& one, Result& result) {
  const auto& nodes = one.facts.nodes.gpus;
  if (!result.know(nodes)) return;
  std::size_t gpus = 0;
  for (const PciDevice& gpu : one.facts.gpus) gpus += *gpu.driver != "vfio-pci";
  if (nodes->size() >= gpus) return;
  result.because(nodes.source, counted(nodes->size(), "node"));
  if (nodes->empty()) return result.found("no /dev/nvidiaN is there");
  // A container may have been given some of the GPUs.
  result.found(one.facts.container.kind ? Severity::note : Severity::broken,
               fmt::format("{} of {} GPUs have a device node here", nodes->size(), gpus));
}

void rights(const Case& one, Result& result) {
  const Nodes& nodes = one.facts.nodes;
  std::vector<std::pair<std::string, Status>> all;
  for (const Fact<Status>* node : {&nodes.control, &nodes.uvm, &nodes.dxg})
    if (result.know(*node) && *node) all.push_back({node->source, **node});
  if (result.know(nodes.gpus))
    for (const Node& node : *nodes.gpus) all.push_back({node.path, node.status});
  if (all.empty()) return result.not_applicable("no device nodes");
  for (const auto& [path, status] : all) {
    if (status.may_read_and_write) continue;
    result.because(path, fmt::format("mode {:o}, owner {}, group {}", status.mode, status.user, status.group));
    result.found(fmt::format("this user may not read and write {}", path));
  }
}

void selinux(const Case& one, Result& result) {
  if (!result.know(one.facts.nodes.control) || !result.know(one.facts.modules.version)) return;
  if (one.facts.nodes.control || !one.facts.modules.version)
    return result.not_applicable("nothing is missing, or no module");
  if (!result.know(one.facts.system.selinux_enforcing)) return;
  if (!one.facts.system.selinux_enforcing || !*one.facts.system.selinux_enforcing) return;
  result.because(one.facts.system.selinux_enforcing);
  result.because(one.facts.nodes.control);
  result.found("SELinux enforces its rules, and device nodes are missing");
}

void caps(const Case& one, Result& result) {
  bool mig = false;
  each_gpu(one, result, {"mig_on"}, [&](const DeviceInfo& device) {
    mig = mig || device.fact("mig_on") > 0;
    return "";
  });
  if (!mig) return result.not_applicable("MIG is off");
  const Fact<std::vector<std::string>>& nodes = one.facts.nodes.capabilities;
  if (!result.know(nodes) || nodes) return;
  result.because(nodes);
  result.found("MIG is on and /dev/nvidia-caps is not there");
}

const Registered checks{{
    {.id = "node.control",
     .layer = Layer::node,
     .title = "/dev/nvidiactl is there",
     .chain = true,
     .why = "every program opens it first",
     .fixes = {{"any", "run nvidia-modprobe, or nvidia-smi as root once"}, {"container", "start it with --gpus all"}},
     .after = {"module.loaded", "container.hook"},
     .run = control},
    {.id = "node.gpus",
     .layer = Layer::node,
     .title = "every GPU has its device node",
     .chain = true,
     .why = "a GPU without one can't be opened",
     .fixes = {{"any", "run nvidia-modprobe -c 0 (and 1, 2, ...)"}, {"container", "give it the GPUs: --gpus all"}},
     .after = {"module.loaded", "module.took_all", "container.hook"},
     .run = per_gpu},
    {.id = "node.uvm",
     .layer = Layer::node,
     .title = "/dev/nvidia-uvm is there",
     .chain = true,
     .why = "CUDA can't start without it: error 3 or 999, while nvidia-smi works",
     .fixes = {{"any", "modprobe nvidia_uvm; nvidia-modprobe -u -c 0"}},
     .after = {"module.loaded", "module.uvm", "container.hook"},
     .run = uvm},
    {.id = "node.rights",
     .layer = Layer::node,
     .title = "this user may use the device nodes",
     .needs = Needs::gpu,
     .chain = true,
     .why = "programs say that no device was found, or error 304",
     .fixes = {{"any", "add the user to the group that owns them (video, render), or set NVreg_DeviceFileMode=0666"},
               {"container", "run the container with that group: --group-add"}},
     .run = rights},
    {.id = "node.selinux",
     .layer = Layer::node,
     .title = "SELinux did not stop the device nodes",
     .severity = Severity::degraded,
     .why = "it can refuse to create them, with a line in the audit log only",
     .fixes = {{"rhel", "ausearch -m avc -ts recent; restorecon -Rv /dev; install the driver's SELinux policy"}},
     .run = selinux},
    {.id = "node.caps",
     .layer = Layer::node,
     .title = "the nodes of MIG are there",
     .why = "instances can't be opened without /dev/nvidia-caps",
     .fixes = {{"any", "nvidia-modprobe -f /proc/driver/nvidia/capabilities/mig/config"}},
     .run = caps},
}};

}  // namespace
}  // namespace assay::doctor
