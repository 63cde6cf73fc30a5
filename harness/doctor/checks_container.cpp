// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a container does to a GPU that is sound by itself. Trap: the bus that it shows is the host's, so a GPU that can
// be seen there may still not have been given to it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool in_container(const Case& one, Result& result) {
  if (!result.know(one.facts.container.kind)) return false;
  if (one.facts.container.kind) return true;
  result.not_applicable("no container");
  return false;
}

void hook(const Case& one, Result& result) {
  if (!in_container(one, result)) return;
  const Facts& facts = one.facts;
  if (!result.know(facts.nodes.control) || !result.know(facts.libraries.all)) return;
  if (facts.nodes.control || facts.libraries.first("libcuda") != nullptr) return;
  result.because(facts.container.kind);
  result.because(facts.nodes.control);
  result.because(facts.container.driver_mounts);
  result.found("the container was started without GPUs: neither device nodes nor the driver's libraries are in it");
}

void libraries(const Case& one, Result& result) {
  if (!in_container(one, result)) return;
  const Facts& facts = one.facts;
  if (!result.know(facts.nodes.control) || !result.know(facts.libraries.all)) return;
  if (!facts.nodes.control || facts.libraries.first("libcuda") != nullptr) return;
  result.because(facts.nodes.control.source, "is there");
  result.because("NVIDIA_DRIVER_CAPABILITIES", variable(facts, "NVIDIA_DRIVER_CAPABILITIES"));
  result.found("the container has device nodes and no libcuda");
}

void capabilities(const Case& one, Result& result) {
  if (!in_container(one, result)) return;
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  const std::string set = variable(one.facts, "NVIDIA_DRIVER_CAPABILITIES");
  if (set.empty() || set.find("all") != std::string::npos || set.find("compute") != std::string::npos) return;
  result.because("environment", "NVIDIA_DRIVER_CAPABILITIES=" + shown(set));
  result.found("the container asks for driver capabilities without 'compute'");
}

void from_image(const Case& one, Result& result) {
  if (!in_container(one, result)) return;
  const Facts& facts = one.facts;
  if (!result.have(facts.container.driver_mounts) || !know_loader(one, result)) return;
  const Library* library = facts.libraries.first("libcuda");
  if (library == nullptr || library->stub || library->compat) return result.not_applicable("no libcuda of a driver");
  for (const std::string& mounted : *facts.container.driver_mounts)
    if (mounted.find("libcuda.so") != std::string::npos) return;
  if (!result.know(facts.modules.version)) return;
  if (!facts.modules.version) return result.not_applicable("no module is loaded");
  if (library->version == *facts.modules.version) return;
  result.because(library->from, library->real);
  result.because(facts.modules.version);
  result.found("the image brings a driver's libcuda of its own, of another version than the host's module");
}

void cgroup(const Case& one, Result& result) {
  if (!in_container(one, result)) return;
  const Facts& facts = one.facts;
  if (!result.know(facts.container.device_rules)) return;
  if (!result.know(facts.nodes.control)) return;
  const bool nodes = static_cast<bool>(facts.nodes.control);
  if (facts.container.device_rules) {
    const auto& rules = *facts.container.device_rules;
    const bool allowed = std::any_of(rules.begin(), rules.end(), [](const std::string& rule) {
      return starts_with(rule, "a ") || starts_with(rule, "c 195:") || starts_with(rule, "c *:");
    });
    if (allowed || !nodes) return;
    result.because(facts.container.device_rules.source, "no rule for devices 195:*");
    result.found("the control group of the container refuses NVIDIA's devices");
    return;
  }
  // Version 2 keeps its rules in a program of the kernel; what NVML says is the sign.
  if (!nodes) return result.not_applicable("no device nodes are there to be refused");
  if (!facts.nvml || facts.nvml->code == nvml_not_asked) {
    result.know_nvml(facts.nvml);
    return;
  }
  if (facts.nvml->loaded || facts.nvml->code != 999) return;
  result.because("NVML", facts.nvml->detail);
  result.because(facts.nodes.control.source, "is there");
  result.found("device nodes are there and may not be opened: the container has lost its devices");
}

void shm(const Case& one, Result& result) {
  const Fact<std::uint64_t>& bytes = one.facts.container.shm_bytes;
  if (!result.know(bytes)) return;
  if (!bytes) {
    if (one.facts.container.kind) return result.cannot_know("the size of /dev/shm", Known::absent);
    return result.not_applicable("no limit is set on /dev/shm");
  }
  if (*bytes >= std::uint64_t{1} << 30) return;
  result.because(bytes.source, fmt::format("{} MiB", *bytes >> 20));
  result.found(fmt::format("/dev/shm has {} MiB", *bytes >> 20));
}

void memlock(const Case& one, Result& result) {
  if (!has_rdma(one, result)) return;
  const Fact<std::uint64_t>& bytes = one.facts.container.memlock_bytes;
  if (!result.know(bytes)) return;
  if (!bytes) return result.cannot_know(bytes.source, Known::absent);
  if (*bytes >= std::uint64_t{1} << 32) return;
  result.because(bytes.source, fmt::format("max locked memory {} KiB", *bytes >> 10));
  result.found(fmt::format("this process may lock {} KiB of memory", *bytes >> 10));
}

const Registered checks{{
    {.id = "container.hook",
     .layer = Layer::container,
     .title = "the container was given GPUs",
     .needs = Needs::gpu,
     .why = "the bus is the host's, so the card is seen; everything that is needed to use it must be mounted by a hook",
     .fixes = {{"container",
                "docker run --gpus all ...; podman run --device nvidia.com/gpu=all ...; apptainer exec --nv ..."},
               {"kubernetes", "resources: limits: nvidia.com/gpu: 1, and the device plugin on the node"}},
     .run = hook},
    {.id = "container.libraries",
     .layer = Layer::container,
     .title = "the container has the driver's libraries",
     .needs = Needs::gpu,
     .why = "nodes passed with --device alone don't bring them",
     .fixes = {{"container", "use --gpus all instead of --device, with NVIDIA_DRIVER_CAPABILITIES=compute,utility"}},
     .run = libraries},
    {.id = "container.capabilities",
     .layer = Layer::container,
     .title = "the container asks for compute",
     .needs = Needs::gpu,
     .why = "nvidia-smi works and CUDA does not",
     .fixes = {{"container", "set NVIDIA_DRIVER_CAPABILITIES=compute,utility"}},
     .run = capabilities},
    {.id = "container.from_image",
     .layer = Layer::container,
     .title = "libcuda comes from the host",
     .needs = Needs::gpu,
     .why = "an image with a driver inside works on the machine where it was made only",
     .fixes = {{"container", "build the image on a runtime base without a driver"}},
     .run = from_image},
    {.id = "container.cgroup",
     .layer = Layer::container,
     .title = "the control group lets the devices through",
     .needs = Needs::gpu,
     .why = "NVML says 'Unknown Error'; it happens to running containers after systemctl daemon-reload",
     .fixes = {{"container",
                "start the container again; use the cgroupfs driver, or CDI, so that systemd knows the devices"}},
     .run = cgroup},
    {.id = "container.shm",
     .layer = Layer::container,
     .title = "/dev/shm is large enough",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "NCCL and data loaders share memory there: 'unhandled system error', bus errors",
     .fixes = {{"container", "docker run --shm-size=8g, or --ipc=host"},
               {"kubernetes", "mount an emptyDir with medium: Memory on /dev/shm"}},
     .run = shm},
    {.id = "container.memlock",
     .layer = Layer::container,
     .title = "enough memory may be locked for RDMA",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "ibv_reg_mr fails, and NCCL with it",
     .fixes = {{"any", "ulimit -l unlimited; LimitMEMLOCK=infinity for slurmd"},
               {"container", "docker run --ulimit memlock=-1"}},
     .run = memlock},
}};

}  // namespace
}  // namespace assay::doctor
