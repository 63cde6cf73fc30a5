// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a scheduler, a fabric or a daemon does to a GPU that is sound by itself. Trap: from inside a container the
// daemons of the host can't be seen, so their absence there is no finding.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool on_host(const Case& one, Result& result) {
  if (!result.know(one.facts.container.kind)) return false;
  if (!one.facts.container.kind) return true;
  result.not_applicable("a container does not see the host's daemons");
  return false;
}

void kubernetes(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  if (!result.know(one.facts.container.kind)) return;
  if (*one.facts.container.kind != "kubernetes") return result.not_applicable("no pod");
  if (!result.know(one.facts.nodes.gpus)) return;
  if (!one.facts.nodes.gpus->empty()) return;
  result.because(one.facts.container.kind);
  result.because(one.facts.nodes.gpus.source, "none");
  result.found("the pod has no GPU");
}

void slurm(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  if (variable(one.facts, "SLURM_JOB_ID").empty()) return result.not_applicable("no job of Slurm");
  if (!variable(one.facts, "SLURM_JOB_GPUS").empty() || !variable(one.facts, "SLURM_STEP_GPUS").empty() ||
      !variable(one.facts, "CUDA_VISIBLE_DEVICES").empty())
    return;
  result.because("environment", "SLURM_JOB_ID, and no SLURM_JOB_GPUS");
  result.found("the job was started without GPUs");
}

void visible(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  const std::string set = variable(one.facts, "CUDA_VISIBLE_DEVICES");
  if (set.empty()) return;
  if (!result.know(one.facts.bus)) return;
  for (const std::string& part : split(set, ',')) {
    const std::optional<int> number = only_number<int>(trim(part));
    if (!number || *number < static_cast<int>(one.facts.gpus.size()) || *number < 0 || one.facts.system.wsl) continue;
    result.because("environment", "CUDA_VISIBLE_DEVICES=" + shown(set));
    result.because(one.facts.bus.source, counted(one.facts.gpus.size(), "GPU"));
    return result.found(
        fmt::format("CUDA_VISIBLE_DEVICES names GPU {}, which isn't there: it and all behind it are hidden", *number));
  }
}

void gres(const Case& one, Result& result) {
  const Fact<std::string>& file = one.facts.cluster.slurm_gres;
  if (!result.know(file)) return;
  if (!file) return result.not_applicable("no gres.conf");
  if (!result.know(one.facts.nodes.gpus)) return;
  for (const std::string& row : split(*file, '\n')) {
    const std::size_t at = row.find("File=/dev/nvidia");
    if (at == std::string::npos || starts_with(trim(row), "#")) continue;
    const std::string path = row.substr(at + 5, row.find_first_of(" \t\r[", at) - at - 5);
    const auto& nodes = *one.facts.nodes.gpus;
    if (row.find('[', at) != std::string::npos ||
        std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) { return node.path == path; }))
      continue;
    result.because(file.source, shown(row));
    result.found(fmt::format("gres.conf names {}, which isn't there: slurmd drains the node", path));
  }
}

void fabric_manager(const Case& one, Result& result) {
  if (one.facts.switches.empty())
    return result.not_applicable("no NVSwitch is on this bus: where there is a fabric, it is managed elsewhere");
  if (!on_host(one, result)) return;
  const Cluster& cluster = one.facts.cluster;
  if (!result.know(cluster.processes)) return;
  if (cluster.runs("nv-fabricmanager") || cluster.runs("nvidia-fabricmanager")) return;
  result.because("/proc/*/comm", "no nv-fabricmanager");
  result.because("/sys/bus/pci/devices", fmt::format("{} NVSwitch", one.facts.switches.size()));
  result.found("the fabric manager does not run");
}

void fabric_version(const Case& one, Result& result) {
  if (one.facts.switches.empty()) return result.not_applicable("no NVSwitch");
  if (!on_host(one, result)) return;
  if (!result.know(one.facts.cluster.packages)) return;
  if (!one.facts.cluster.packages) return result.cannot_know("the version of the fabric manager", Known::absent);
  if (!result.know(one.facts.modules.version)) return;
  if (!one.facts.modules.version) return result.not_applicable("no module is loaded");
  for (const auto& [package, version] : *one.facts.cluster.packages) {
    if (package.find("fabricmanager") == std::string::npos || package.find("dev") != std::string::npos) continue;
    const std::string plain_version = version.substr(0, version.find('-'));
    if (plain_version == *one.facts.modules.version) return;
    result.because(one.facts.cluster.packages.source, package + " " + version);
    result.because(one.facts.modules.version);
    return result.found(
        fmt::format("the fabric manager is {}, the driver {}", plain_version, *one.facts.modules.version));
  }
  result.cannot_know("the version of the fabric manager", Known::absent);
}

void fabric_state(const Case& one, Result& result) {
  bool fabric = false;
  each_gpu(one, result, {"fabric_state", "fabric_status"}, [&](const DeviceInfo& device) -> std::string {
    // 0 not supported, 1 not started, 2 in progress, 3 completed.
    const double state = device.fact("fabric_state");
    fabric = fabric || state != 0;
    if (state == 0) return "";
    if (state < 3) return "has not joined the NVLink fabric";
    return device.fact("fabric_status") != 0 ? "failed to join the NVLink fabric" : "";
  });
  if (!fabric) result.not_applicable("no NVLink fabric");
}

void imex(const Case& one, Result& result) {
  bool rack = false;
  for (const PciDevice& gpu : one.facts.gpus) {
    const std::string id = card_of(one, gpu, result).class_id;
    rack = rack || starts_with(id, "gb200") || starts_with(id, "gb300");
  }
  if (!rack) return result.not_applicable("no GPU of a rack with NVLink between nodes");
  if (!on_host(one, result) || !result.know(one.facts.cluster.processes)) return;
  if (one.facts.cluster.runs("nvidia-imex")) return;
  result.because("/proc/*/comm", "no nvidia-imex");
  result.found("the IMEX daemon does not run");
}

void mps(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  if (variable(one.facts, "CUDA_MPS_PIPE_DIRECTORY").empty()) return result.not_applicable("MPS is not asked for");
  if (!on_host(one, result) || !result.know(one.facts.cluster.processes)) return;
  if (one.facts.cluster.runs("nvidia-cuda-mps-control")) return;
  result.because("environment", "CUDA_MPS_PIPE_DIRECTORY");
  result.because("/proc/*/comm", "no nvidia-cuda-mps-control");
  result.found("MPS is asked for and its control daemon does not run");
}

void vgpu(const Case& one, Result& result) {
  bool guest = false;
  for (const PciDevice& gpu : one.facts.gpus) guest = card_of(one, gpu, result).vgpu || guest;
  if (!guest) return result.not_applicable("no shared GPU (vGPU)");
  if (!result.know(one.facts.cluster.processes)) return;
  if (one.facts.cluster.runs("nvidia-gridd")) return;
  result.because("/proc/*/comm", "no nvidia-gridd");
  result.because(one.facts.cluster.vgpu_configuration.source,
                 one.facts.cluster.vgpu_configuration ? "is there" : "is not there");
  result.found("the GPU is a vGPU and its licence daemon does not run");
}

void persistence(const Case& one, Result& result) {
  if (one.facts.system.wsl) return result.not_applicable("WSL");
  each_gpu(one, result, {"persistence_on"}, [](const DeviceInfo& device) {
    return device.fact("persistence_on") > 0 ? "" : "has its persistence mode off";
  });
}

void clock_state(const Case& one, Result& result) {
  const Fact<bool>& synchronised = one.facts.cluster.clock_synchronised;
  if (!result.know(synchronised)) return;
  if (!synchronised) return result.cannot_know(synchronised.source, Known::absent);
  if (one.facts.container.kind) return result.not_applicable("the host keeps the clock");
  if (*synchronised) return;
  result.because(synchronised);
  result.found("the clock is not synchronised");
}

void clock_year(const Case& one, Result& result) {
  const Fact<double>& seconds = one.facts.cluster.clock_s;
  if (!result.know(seconds)) return;
  if (!seconds) return result.cannot_know(seconds.source, Known::absent);
  constexpr double january_2024 = 1704067200;
  if (*seconds >= january_2024) return;
  result.because(seconds);
  result.found("the clock is years behind");
}

const Registered checks{{
    {.id = "cluster.kubernetes",
     .layer = Layer::cluster,
     .title = "the pod asked for a GPU",
     .needs = Needs::gpu,
     .why = "a container of Kubernetes sees a GPU only when it asks for one",
     .fixes = {{"kubernetes", "resources: limits: nvidia.com/gpu: 1"}},
     .after = {"container.hook"},
     .run = kubernetes},
    {.id = "cluster.slurm",
     .layer = Layer::cluster,
     .title = "the job asked for GPUs",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "with ConstrainDevices=yes the job sees none; without it, those of others",
     .fixes = {{"any", "sbatch --gpus=1, or --gres=gpu:1"}},
     .run = slurm},
    {.id = "configuration.visible",
     .layer = Layer::configuration,
     .title = "CUDA_VISIBLE_DEVICES names GPUs that are there",
     .needs = Needs::gpu,
     .why = "CUDA stops at the first number that is wrong",
     .fixes = {{"any", "unset it, or correct it"}},
     .run = visible},
    {.id = "cluster.gres",
     .layer = Layer::cluster,
     .title = "gres.conf names devices that are there",
     .needs = Needs::gpu,
     .why = "a GPU that failed to start takes the node out of the cluster",
     .fixes = {{"any", "find out why it failed to start; or use AutoDetect=nvml"}},
     .after = {"module.took_all", "module.loaded", "node.gpus"},
     .run = gres},
    {.id = "cluster.fabric_manager",
     .layer = Layer::cluster,
     .title = "the fabric manager runs",
     .why = "without it NVSwitch machines answer every CUDA program with error 802: system not yet initialized",
     .fixes = {{"any", "systemctl enable --now nvidia-fabricmanager"},
               {"debian", "apt install nvidia-fabricmanager-BRANCH"}},
     .run = fabric_manager},
    {.id = "cluster.fabric_version",
     .layer = Layer::cluster,
     .title = "the fabric manager is of the driver's version",
     .why = "it stops when they differ: error 802",
     .fixes = {{"any", "install nvidia-fabricmanager of exactly the driver's version, and hold both"}},
     .run = fabric_version},
    {.id = "cluster.fabric_state",
     .layer = Layer::cluster,
     .title = "every GPU has joined the NVLink fabric",
     .why = "error 802 until it has",
     .fixes = {{"any", "journalctl -u nvidia-fabricmanager; nvidia-smi -q -d FABRIC"}},
     .after = {"cluster.fabric_manager", "cluster.fabric_version", "driver.nvml"},
     .run = fabric_state},
    {.id = "cluster.imex",
     .layer = Layer::cluster,
     .title = "the IMEX daemon runs",
     .severity = Severity::degraded,
     .why = "memory can't be shared between nodes over NVLink",
     .fixes = {{"any", "write /etc/nvidia-imex/nodes_config.cfg; systemctl enable --now nvidia-imex"}},
     .run = imex},
    {.id = "cluster.mps",
     .layer = Layer::cluster,
     .title = "MPS runs where it is asked for",
     .needs = Needs::gpu,
     .why = "programs fail with errors 805 to 810",
     .fixes = {{"any", "nvidia-cuda-mps-control -d; or unset CUDA_MPS_PIPE_DIRECTORY"}},
     .run = mps},
    {.id = "cluster.vgpu",
     .layer = Layer::cluster,
     .title = "a vGPU has its licence daemon",
     .severity = Severity::degraded,
     .why = "an unlicensed vGPU is slowed down after some minutes, and CUDA may be refused",
     .fixes = {{"any", "systemctl enable --now nvidia-gridd; put the client token into /etc/nvidia/ClientConfigToken"}},
     .run = vgpu},
    {.id = "cluster.persistence",
     .layer = Layer::cluster,
     .title = "persistence mode is on",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "the driver starts the GPU anew for each program: seconds lost, settings forgotten",
     .fixes = {{"any", "systemctl enable --now nvidia-persistenced"}},
     .after = {"driver.nvml"},
     .run = persistence},
    {.id = "cluster.clock",
     .layer = Layer::cluster,
     .title = "the clock is synchronised",
     .severity = Severity::note,
     .needs = Needs::nothing,
     .why = "logs of several machines can't be compared, and certificates and tokens may be refused",
     .fixes = {{"any", "timedatectl set-ntp true, or chrony"}},
     .run = clock_state},
    {.id = "cluster.clock_year",
     .layer = Layer::cluster,
     .title = "the clock shows a possible year",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "downloads and licences fail with errors of certificates",
     .fixes = {{"any", "set the clock: timedatectl set-time"}},
     .run = clock_year},
}};

}  // namespace
}  // namespace assay::doctor
