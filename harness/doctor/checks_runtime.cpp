// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Toolkits and CUDA's libraries. Rules: a driver starts every program of its own and of older CUDA releases; from CUDA
// 11 on also newer ones of the same major number, without their newest features and without compiling their PTX.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool know_toolkits(const Case& one, Result& result) {
  if (!result.know(one.facts.libraries.toolkits)) return false;
  if (!one.facts.libraries.toolkits->empty()) return true;
  result.not_applicable("no toolkit is installed, and programs that bring their libraries need none");
  return false;
}

void driver_for_toolkit(const Case& one, Result& result) {
  if (!know_toolkits(one, result) || !result.know_driver(one.facts)) return;
  const std::string driver = one.facts.driver_version();
  for (const Toolkit& toolkit : *one.facts.libraries.toolkits) {
    const std::string minimum = one.knowledge.minimum_driver(toolkit.version);
    if (minimum.empty()) {
      result.cannot_know(fmt::format("the oldest driver for CUDA {} of {}", toolkit.version, toolkit.folder),
                         Known::absent);
    } else if (compare_versions(driver, minimum) < 0) {
      result.because("driver", driver);
      result.because(toolkit.folder, "CUDA " + toolkit.version);
      result.found(
          fmt::format("programs built with CUDA {} need driver {}, and {} is here", toolkit.version, minimum, driver));
    }
  }
}

void native(const Case& one, Result& result) {
  if (!know_toolkits(one, result) || !result.know_driver(one.facts)) return;
  const std::string driver = one.facts.driver_version();
  for (const Toolkit& toolkit : *one.facts.libraries.toolkits) {
    const CudaRelease* release = one.knowledge.cuda(toolkit.version);
    if (release == nullptr) {
      result.cannot_know(fmt::format("the driver of CUDA {}", toolkit.version), Known::absent);
    } else if (compare_versions(driver, release->native_driver) < 0 &&
               compare_versions(driver, release->minimum_driver) >= 0) {
      result.because("driver", driver);
      result.because(toolkit.folder, "CUDA " + toolkit.version);
      result.found(fmt::format("CUDA {} is newer than driver {}: it runs by minor-version compatibility only",
                               toolkit.version, driver));
    }
  }
}

void several(const Case& one, Result& result) {
  if (!know_toolkits(one, result)) return;
  std::set<std::string> versions;
  for (const Toolkit& toolkit : *one.facts.libraries.toolkits) {
    if (toolkit.version.empty()) continue;
    versions.insert(toolkit.version);
    result.because(toolkit.folder, "CUDA " + toolkit.version);
  }
  if (versions.size() < 2) return;
  result.found(
      fmt::format("{} toolkits are installed: {}", versions.size(), join({versions.begin(), versions.end()}, ", ")));
}

void for_gpu(const Case& one, Result& result) {
  if (!know_toolkits(one, result)) return;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = card_of(one, gpu, result);
    if (card.row == nullptr) continue;
    bool fits = false, told = false;
    for (const Toolkit& toolkit : *one.facts.libraries.toolkits) {
      if (!toolkit.compiler || toolkit.version.empty()) continue;
      told = true;
      fits = fits ||
             (compare_versions(toolkit.version, card.row->oldest_cuda) >= 0 &&
              (card.row->last_cuda.empty() || compare_versions(toolkit.version, card.row->last_cuda + ".99") <= 0));
      result.because(toolkit.folder, "CUDA " + toolkit.version);
    }
    if (!told || fits) continue;
    result.found(card.row->last_cuda.empty()
                     ? fmt::format("no compiler here can build for {} (capability {}): CUDA {} or newer can",
                                   gpu.address, card.capability, card.row->oldest_cuda)
                     : fmt::format("no compiler here can build for {} (capability {}): CUDA {} to {} can", gpu.address,
                                   card.capability, card.row->oldest_cuda, card.row->last_cuda));
  }
}

void home(const Case& one, Result& result) {
  const Fact<Environment>& environment = one.facts.environment;
  if (!environment) return result.cannot_know("environment", environment.state);
  if (!result.know(one.facts.libraries.toolkits)) return;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto set = environment->find(variable);
    if (set == environment->end() || set->second.empty()) continue;
    std::string folder = set->second;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    const auto& toolkits = *one.facts.libraries.toolkits;
    const bool there = std::any_of(toolkits.begin(), toolkits.end(), [&](const Toolkit& toolkit) {
      return toolkit.folder == folder || starts_with(folder, "/usr/local/cuda") || starts_with(folder, "/opt");
    });
    if (there) continue;
    result.because("environment", fmt::format("{}={}", variable, shown(folder)));
    result.found(fmt::format("{} points to a folder without a toolkit", variable));
  }
}

// Does LD_LIBRARY_PATH give a runtime of another major number than the toolkit of CUDA_HOME?
void picked(const Case& one, Result& result) {
  const Libraries& libraries = one.facts.libraries;
  if (!know_loader(one, result)) return;
  const Library* runtime = libraries.first("libcudart");
  if (runtime == nullptr) return result.not_applicable("no runtime on the loader's path");
  const auto set = one.facts.environment->find("CUDA_HOME");
  if (set == one.facts.environment->end()) return result.not_applicable("CUDA_HOME is not set");
  for (const Toolkit& toolkit : *libraries.toolkits) {
    if (set->second != toolkit.folder || toolkit.version.empty()) continue;
    if (std::atoi(toolkit.version.c_str()) == std::atoi(runtime->version.c_str())) continue;
    result.because("environment", "CUDA_HOME=" + toolkit.folder);
    result.because(runtime->from, runtime->real);
    result.found(fmt::format("CUDA_HOME is CUDA {}, programs load the runtime {}", toolkit.version, runtime->version));
  }
}

void mixed(const Case& one, Result& result, const char* name, std::size_t parts) {
  if (!know_loader(one, result)) return;
  std::map<std::string, std::string> versions;  // of those that the loader could take
  for (const Library* library : one.facts.libraries.named(name)) {
    // "libnccl.so.2" alone says too little.
    if (library->order < 0 || library->version.find('.') == std::string::npos ||
        library->machine != *one.facts.system.architecture)
      continue;
    std::vector<std::string> numbers = split(library->version, '.');
    numbers.resize(std::min(numbers.size(), parts));
    versions.emplace(join(numbers, "."), library->real);
  }
  if (versions.size() < 2) return;
  std::vector<std::string> list;
  for (const auto& [version, path] : versions) {
    result.because("found", path);
    list.push_back(version);
  }
  result.found(fmt::format("the loader can find {} in {} versions: {}", name, versions.size(), join(list, ", ")));
}

void search_path(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  const Libraries& libraries = one.facts.libraries;
  if (libraries.search_missing.empty()) return;
  result.because("environment", "LD_LIBRARY_PATH");
  result.found("LD_LIBRARY_PATH names folders that aren't there: " + join(libraries.search_missing, ", "));
}

void current_folder(const Case& one, Result& result) {
  if (!one.facts.environment) return result.cannot_know("environment", one.facts.environment.state);
  if (!one.facts.libraries.search_current_folder) return;
  result.because("environment", "LD_LIBRARY_PATH");
  result.found("LD_LIBRARY_PATH has an empty or relative part: libraries are taken from wherever one stands");
}

// cuDNN's parts must be of one version.
void cudnn_parts(const Case& one, Result& result) {
  if (!know_loader(one, result)) return;
  std::set<std::string> versions;
  for (const char* part : {"libcudnn", "libcudnn_ops", "libcudnn_cnn", "libcudnn_graph"})
    if (const Library* library = one.facts.libraries.first(part);
        library != nullptr && std::count(library->version.begin(), library->version.end(), '.') > 1) {
      versions.insert(library->version);
      result.because(library->from, library->real);
    }
  if (versions.empty()) return result.not_applicable("no cuDNN on the loader's path");
  if (versions.size() > 1)
    result.found("cuDNN's parts on the loader's path are of different versions: " +
                 join({versions.begin(), versions.end()}, ", "));
}

const Registered checks{{
    {.id = "runtime.driver",
     .layer = Layer::runtime,
     .title = "the driver is new enough for the toolkits",
     .needs = Needs::gpu,
     .why = "programs fail with error 35: CUDA driver version is insufficient for CUDA runtime version",
     .fixes = {{"any",
                "update the driver, or use an older toolkit; what nvidia-smi calls 'CUDA Version' is the driver's "
                "upper limit"}},
     .run = driver_for_toolkit},
    {.id = "runtime.native",
     .layer = Layer::runtime,
     .title = "the driver is as new as the toolkits",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "PTX of the newer toolkit can't be compiled (error 222), newer calls fail (36)",
     .fixes = {{"any", "build machine code for this GPU (-arch=sm_XX), or update the driver"}},
     .run = native},
    {.id = "runtime.several",
     .layer = Layer::runtime,
     .title = "one toolkit is installed",
     .severity = Severity::note,
     .needs = Needs::nothing,
     .why = "which one is used depends on PATH, CUDA_HOME and LD_LIBRARY_PATH",
     .fixes = {{"any", "set all three to the same one, or remove the others"}},
     .run = several},
    {.id = "runtime.for_gpu",
     .layer = Layer::runtime,
     .title = "a compiler here can build for the GPU",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "nvcc says 'unsupported gpu architecture', programs 'no kernel image is available'",
     .fixes = {{"any", "install a toolkit that knows this capability"}},
     .run = for_gpu},
    {.id = "runtime.home",
     .layer = Layer::runtime,
     .title = "CUDA_HOME names a toolkit",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "builds use it first",
     .fixes = {{"any", "set it to the toolkit's folder, or unset it"}},
     .run = home},
    {.id = "runtime.picked",
     .layer = Layer::runtime,
     .title = "CUDA_HOME and the loader agree",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "what is built with one is run with the other",
     .fixes = {{"any", "make LD_LIBRARY_PATH begin with $CUDA_HOME/lib64, or leave both unset"}},
     .run = picked},
    {.id = "library.cudnn",
     .layer = Layer::library,
     .title = "one cuDNN is on the loader's path",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "cuDNN loads its parts by name and refuses those of another version (1002)",
     .fixes = {{"any", "remove the other one, or take its folder off LD_LIBRARY_PATH"}},
     .run = [](const Case& one, Result& result) { mixed(one, result, "libcudnn", 3); }},
    {.id = "library.cudnn_parts",
     .layer = Layer::library,
     .title = "cuDNN's parts belong together",
     .needs = Needs::nothing,
     .why = "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
     .fixes = {{"any", "reinstall cuDNN from one source"}},
     .run = cudnn_parts},
    {.id = "library.nccl",
     .layer = Layer::library,
     .title = "one NCCL is on the loader's path",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "ranks with different versions fail with 'internal error' or 'invalid usage'",
     .fixes = {{"any", "remove the older one"}},
     .run = [](const Case& one, Result& result) { mixed(one, result, "libnccl", 2); }},
    {.id = "library.cublas",
     .layer = Layer::library,
     .title = "one cuBLAS of each major number is on the loader's path",
     .severity = Severity::note,
     .needs = Needs::nothing,
     .why = "the first that is found is used, whatever a program was built with",
     .fixes = {{"any", "put the folder of the wanted toolkit first"}},
     .run = [](const Case& one, Result& result) { mixed(one, result, "libcublas", 2); }},
    {.id = "library.search_path",
     .layer = Layer::library,
     .title = "LD_LIBRARY_PATH names folders that exist",
     .severity = Severity::note,
     .needs = Needs::nothing,
     .why = "what it was set for is not there, and something else is loaded",
     .fixes = {{"any", "take them out"}},
     .run = search_path},
    {.id = "library.current_folder",
     .layer = Layer::library,
     .title = "libraries don't come from the current folder",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "the same program loads other libraries elsewhere",
     .fixes = {{"any", "write ${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} where it is extended"}},
     .run = current_folder},
}};

}  // namespace
}  // namespace assay::doctor
