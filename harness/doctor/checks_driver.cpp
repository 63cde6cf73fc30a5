// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// NVML and the driver's own libraries. Trap: a version number alone proves nothing; that NVML answered
// for every GPU does.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

// --- NVML ---

void nvml(const Case& one, Result& result) {
  const Fact<NvmlAnswer>& nvml = one.facts.nvml;
  if (!nvml) return result.cannot_know("NVML", nvml.state);  // late: the driver hangs, which is an answer of its own
  if (nvml->loaded) return;
  if (nvml->code == nvml_not_asked) return result.cannot_know(nvml->detail);
  const NvmlCode* row = one.knowledge.nvml(nvml->code);
  result.because("NVML", nvml->detail);
  result.found(row == nullptr ? fmt::format("NVML does not start: error {}", nvml->code)
                              : fmt::format("NVML does not start: {}", row->meaning));
  if (row != nullptr) result.fix("any", row->action);
}

void nvml_hangs(const Case& one, Result& result) {
  if (one.facts.nvml.state != Known::late) {
    if (one.facts.nvml.state != Known::value)
      result.cannot_know("NVML", one.facts.nvml.state);
    else if (one.facts.nvml->code == nvml_not_asked)
      result.cannot_know(one.facts.nvml->detail);
    return;
  }
  result.because("NVML", "no answer in time");
  result.found("the driver does not answer NVML");
}

void count(const Case& one, Result& result) {
  const Fact<NvmlAnswer>& nvml = one.facts.nvml;
  if (!result.know_nvml(nvml)) return;
  if (one.facts.gpus.empty()) return result.not_applicable("no GPU on the bus to compare with");
  if (nvml->devices.size() >= one.facts.gpus.size()) return;
  result.because("NVML", counted(nvml->devices.size(), "device"));
  result.because(one.facts.bus.source, counted(one.facts.gpus.size(), "GPU"));
  result.found(one.facts.container.kind ? Severity::note : Severity::broken,
               fmt::format("NVML sees {} of {} GPUs", nvml->devices.size(), one.facts.gpus.size()));
}

void access(const Case& one, Result& result) {
  const Fact<NvmlAnswer>& nvml = one.facts.nvml;
  if (!result.know_nvml(nvml)) return;
  for (const DeviceInfo& device : nvml->devices)
    if (const auto told = device.labels.find("nvml"); told != device.labels.end()) {
      result.because("NVML", device.name + ": " + told->second);
      result.found(device.name + " can't be opened");
    }
}

// --- the driver's libraries ---

const Library* loaded_cuda(const Case& one) { return one.facts.libraries.first("libcuda"); }

void libcuda(const Case& one, Result& result) {
  const Libraries& libraries = one.facts.libraries;
  if (!result.know(libraries.all)) return;
  if (loaded_cuda(one) != nullptr) return;
  const auto copies = libraries.named("libcuda");
  result.because("/etc/ld.so.cache, LD_LIBRARY_PATH and the default folders", "no libcuda.so.1");
  if (!copies.empty()) {
    result.because("found elsewhere", copies.front()->path);
    result.found("libcuda is on this machine, where the loader does not look");
    result.fix("any", fmt::format("run ldconfig, or add {} to LD_LIBRARY_PATH",
                                  copies.front()->path.substr(0, copies.front()->path.rfind('/'))));
  } else {
    result.found("libcuda.so.1, the driver's library, is not installed");
  }
}

void libnvml(const Case& one, Result& result) {
  if (!result.know(one.facts.libraries.all)) return;
  if (one.facts.libraries.first("libnvidia-ml") != nullptr) return;
  result.because("/etc/ld.so.cache, LD_LIBRARY_PATH and the default folders", "no libnvidia-ml.so.1");
  result.found("libnvidia-ml.so.1 (NVML) is not installed");
}

void jit(const Case& one, Result& result) {
  if (!result.know(one.facts.libraries.all)) return;
  if (loaded_cuda(one) == nullptr) return result.not_applicable("no libcuda");
  if (one.facts.system.wsl || one.facts.libraries.first("libnvidia-ptxjitcompiler") != nullptr) return;
  result.because("loader", "no libnvidia-ptxjitcompiler.so.1");
  result.found("the driver's compiler for PTX is missing");
}

void stub(const Case& one, Result& result) {
  if (!know_loader(one, result)) return;
  const Library* library = loaded_cuda(one);
  if (library == nullptr) return result.not_applicable("no libcuda");
  if (!library->stub) return;
  result.because(library->from, library->path);
  result.found("the libcuda that programs load is the stub for linking");
}

// The library that programs get, of the module's version?
void match(const Case& one, Result& result, const char* name) {
  const Modules& modules = one.facts.modules;
  if (!result.know(modules.version) || !know_loader(one, result)) return;
  const Library* library = one.facts.libraries.first(name);
  if (!modules.version || library == nullptr) return result.not_applicable(fmt::format("no module, or no {}", name));
  if (library->stub || library->compat)
    return result.not_applicable(fmt::format("another check is about this {}", name));
  if (library->version.find('.') == std::string::npos)
    return result.cannot_know("the version of " + library->real, Known::absent);
  if (library->version == *modules.version) return;
  result.because(library->from, library->real);
  result.because(modules.version);
  result.found(fmt::format("programs load {} {} and the module is {}", name, library->version, *modules.version));
  for (const Library* other : one.facts.libraries.named(name))
    if (other->version == *modules.version)
      result.fix("any",
                 fmt::format("the right one is {}: remove {}, or LD_LIBRARY_PATH's part before it, and run ldconfig",
                             other->real, library->path));
}

void leftover(const Case& one, Result& result) {
  if (!result.know(one.facts.libraries.all) || !result.have(one.facts.system.architecture)) return;
  if (!result.have(one.facts.libraries.elsewhere)) return;
  std::set<std::string> versions;
  for (const Library* library : one.facts.libraries.named("libcuda"))
    if (!library->stub && !library->compat && library->version.find('.') != std::string::npos &&
        library->machine == *one.facts.system.architecture) {
      versions.insert(library->version);
      result.because("found", library->real);
    }
  if (versions.size() < 2) return;
  result.found(fmt::format("libraries of {} drivers are installed: {}", versions.size(),
                           join({versions.begin(), versions.end()}, ", ")));
}

void compat(const Case& one, Result& result) {
  if (!know_loader(one, result)) return;
  const Library* library = loaded_cuda(one);
  if (library == nullptr || !library->compat) return result.not_applicable("no forward compatibility package in use");
  result.because(library->from, library->real);
  for (const PciDevice& gpu : one.facts.gpus)
    if (card_of(one, gpu, result).geforce)
      result.found(fmt::format("{} is a GeForce, on which forward compatibility is refused (error 804)", gpu.address));
  if (!result.have(one.facts.modules.version)) return;
  if (library->version.find('.') == std::string::npos)
    result.cannot_know("the version of " + library->real, Known::absent);
  if (library->version.find('.') != std::string::npos &&
      compare_versions(library->version, *one.facts.modules.version) < 0) {
    result.because(one.facts.modules.version);
    result.found("the compatibility libcuda is older than the driver");
  }
}

void machine(const Case& one, Result& result) {
  if (!result.know(one.facts.libraries.all) || !result.have(one.facts.system.architecture)) return;
  const auto copies = one.facts.libraries.named("libcuda");
  if (copies.empty() || copies.front()->stub) return result.not_applicable("no libcuda");
  for (const Library* library : copies)
    if (!library->stub && library->machine == *one.facts.system.architecture) return;
  result.because("found", copies.front()->path + " for " + copies.front()->machine);
  result.found(fmt::format("libcuda is for another processor than {}", *one.facts.system.architecture));
}

// --- is it a driver for this GPU? ---

void for_gpu(const Case& one, Result& result) {
  if (!result.know(one.facts.modules.version)) return;
  if (!one.facts.modules.version) return result.not_applicable("no module is loaded");
  const std::string& version = *one.facts.modules.version;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = card_of(one, gpu, result);
    if (card.row == nullptr || card.row->oldest_driver.empty()) continue;
    if (compare_versions(version, card.row->oldest_driver) >= 0) continue;
    result.because(one.facts.modules.version);
    result.because("results/doctor/capabilities.csv",
                   fmt::format("capability {} from driver {} on", card.row->capability, card.row->oldest_driver));
    result.found(fmt::format("driver {} is older than this GPU, which needs {}", version, card.row->oldest_driver));
  }
}

void last_for_gpu(const Case& one, Result& result) {
  if (!result.know(one.facts.modules.version)) return;
  if (!one.facts.modules.version) return result.not_applicable("no module is loaded");
  const std::string& version = *one.facts.modules.version;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = card_of(one, gpu, result);
    if (card.row == nullptr || card.row->last_branch.empty()) continue;
    if (std::atoi(version.c_str()) <= std::atoi(card.row->last_branch.c_str())) continue;
    result.because(one.facts.modules.version);
    result.found(
        fmt::format("driver {} no longer has this GPU; the last branch with it is {}", version, card.row->last_branch));
  }
}

void known_bad(const Case& one, Result& result) {
  if (!result.know(one.facts.modules.version)) return;
  if (!one.facts.modules.version) return result.not_applicable("no module is loaded");
  for (const KnownDriver& row : one.knowledge.drivers) {
    if (row.driver != *one.facts.modules.version) continue;
    result.because(one.facts.modules.version);
    result.because("results/doctor/drivers.csv", row.source);
    result.found(fmt::format("driver {}: {}; fixed in {}", row.driver, row.what, row.fixed_in));
  }
}

const std::vector<Fix> user_space = {
    {"debian",
     "apt install libcuda1 libnvidia-ml1 (Debian) or libnvidia-compute-VERSION (Ubuntu), of the module's version"},
    {"rhel", "dnf install nvidia-driver-cuda-libs"},
    {"container",
     "start the container with --gpus all and the NVIDIA container toolkit: the host's libraries are mounted"},
    {"kubernetes", "install the GPU operator or device plugin; ask for nvidia.com/gpu"}};

const Registered checks{{
    {.id = "driver.libcuda",
     .layer = Layer::driver,
     .title = "the loader finds libcuda.so.1",
     .needs = Needs::gpu,
     .chain = true,
     .why = "no CUDA program starts without it; a toolkit does not bring it, the driver does",
     .fixes = user_space,
     .after = {"container.hook", "module.installed"},
     .run = libcuda},
    {.id = "driver.libnvml",
     .layer = Layer::driver,
     .title = "the loader finds NVML",
     .needs = Needs::gpu,
     .why = "nvidia-smi and all monitoring need it",
     .fixes = user_space,
     .after = {"container.hook", "module.installed"},
     .run = libnvml},
    {.id = "driver.machine",
     .layer = Layer::driver,
     .title = "libcuda is for this processor",
     .needs = Needs::gpu,
     .why = "the loader passes over files for other machines",
     .fixes = user_space,
     .run = machine},
    {.id = "driver.stub",
     .layer = Layer::driver,
     .title = "libcuda is the real one",
     .needs = Needs::gpu,
     .why = "the stub answers every call with error 34",
     .fixes =
         {{"any",
           "remove .../stubs from LD_LIBRARY_PATH and from /etc/ld.so.conf.d; it belongs on the linker's path only"}},
     .run = stub},
    {.id = "driver.match",
     .layer = Layer::driver,
     .title = "libcuda and the module are of one version",
     .chain = true,
     .why = "CUDA says 'driver version is insufficient', 803 or 804, though nvidia-smi shows the new version",
     .fixes = {{"any", "restart after an upgrade; else remove what an older driver left"}},
     .after = {"module.upgraded"},
     .run = [](const Case& one, Result& result) { match(one, result, "libcuda"); }},
    {.id = "driver.nvml_match",
     .layer = Layer::driver,
     .title = "NVML and the module are of one version",
     .why = "nvidia-smi says 'driver/library version mismatch'",
     .fixes = {{"any", "restart after an upgrade"}},
     .after = {"module.upgraded"},
     .run = [](const Case& one, Result& result) { match(one, result, "libnvidia-ml"); }},
    {.id = "driver.leftover",
     .layer = Layer::driver,
     .title = "libraries of one driver only are installed",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "an update of the loader's cache may pick the other one",
     .fixes = {{"any", "remove the older ones with the package manager, or nvidia-uninstall for those of a .run file"}},
     .run = leftover},
    {.id = "driver.compat",
     .layer = Layer::driver,
     .title = "forward compatibility is used where it may be",
     .why = "cuda-compat works on data-centre GPUs only, and only towards newer CUDA",
     .fixes = {{"any", "take the compat folder off LD_LIBRARY_PATH and /etc/ld.so.conf.d"},
               {"container", "use an image whose CUDA is not newer than the driver"}},
     .run = compat},
    {.id = "driver.nvml_hangs",
     .layer = Layer::driver,
     .title = "the driver answers in time",
     .needs = Needs::gpu,
     .why = "a lost GPU or a driver that waits for its firmware stops every tool",
     .fixes = {{"any", "read the kernel's log (assay explain); restart the machine"}},
     .after = {"bus.answers"},
     .run = nvml_hangs},
    {.id = "driver.nvml",
     .layer = Layer::driver,
     .title = "NVML starts",
     .needs = Needs::gpu,
     .chain = true,
     .why = "it asks the driver itself: that it answers is more than a version number",
     .after = {"container.hook", "module.loaded", "module.upgraded", "module.took_all", "module.open_needed",
               "module.proprietary_needed", "node.control", "node.rights", "driver.libnvml", "driver.nvml_match",
               "container.cgroup", "bus.answers", "driver.nvml_hangs"},
     .run = nvml},
    {.id = "driver.count",
     .layer = Layer::driver,
     .title = "NVML sees every GPU",
     .needs = Needs::gpu,
     .chain = true,
     .why = "a GPU that is missing here is missing in every program",
     .fixes = {{"any", "read the kernel's log for 'RmInitAdapter failed' or Xid 79"}},
     .after = {"driver.nvml", "driver.nvml_hangs", "module.took_all", "bus.answers", "node.gpus"},
     .run = count},
    {.id = "driver.access",
     .layer = Layer::driver,
     .title = "every GPU can be opened",
     .needs = Needs::gpu,
     .why = "one lost GPU makes programs fail that only list devices",
     .fixes = {{"any", "read the kernel's log; reset or drain that GPU"}},
     .after = {"bus.answers", "node.rights"},
     .run = access},
    {.id = "driver.for_gpu",
     .layer = Layer::driver,
     .title = "the driver is new enough for the GPU",
     .why = "it does not know the card, or only a part of it",
     .fixes = {{"any", "install a newer branch of the driver"}},
     .run = for_gpu},
    {.id = "driver.last_for_gpu",
     .layer = Layer::driver,
     .title = "the driver still has the GPU",
     .why = "newer branches have dropped Maxwell, Pascal and Volta",
     .fixes = {{"any", "install the branch 580"}},
     .run = last_for_gpu},
    {.id = "driver.known_bad",
     .layer = Layer::driver,
     .title = "the driver has no known fault that matters here",
     .severity = Severity::degraded,
     .why = "results would be blamed on the card",
     .fixes = {{"any", "update the driver"}},
     .run = known_bad},
    {.id = "driver.jit",
     .layer = Layer::driver,
     .title = "the driver can compile PTX",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "programs without machine code for this GPU fail: error 221",
     .fixes = {{"container", "NVIDIA_DRIVER_CAPABILITIES must have compute"},
               {"debian", "apt install libnvidia-ptxjitcompiler1"}},
     .after = {"driver.libcuda"},
     .run = jit},
}};

}  // namespace
}  // namespace assay::doctor
