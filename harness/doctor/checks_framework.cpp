// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch and libtorch: a build for the GPU, for this GPU, with a driver that is new enough, and with its libraries.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool know_torch(const Case& one, Result& result) {
  if (!result.know(one.facts.frameworks.torch)) return false;
  if (!one.facts.frameworks.torch->empty()) return true;
  result.not_applicable("no PyTorch was found");
  return false;
}

void cpu_torch(const Case& one, Result& result) {
  if (!know_torch(one, result)) return;
  for (const Torch& torch : *one.facts.frameworks.torch) {
    if (!torch.cuda.empty() || !torch.hip.empty()) continue;
    result.because(torch.folder, "torch " + torch.version + (torch.cuda_library ? "" : ", no libtorch_cuda.so"));
    result.found(fmt::format("torch {} in {} is a build for the CPU", torch.version, torch.folder));
    const std::string driver = one.facts.driver_version();
    const CudaRelease* newest = driver.empty() ? nullptr : one.knowledge.newest_for(driver);
    for (const PciDevice& gpu : one.facts.gpus) {
      if (newest == nullptr) break;
      for (const std::string& tag : one.knowledge.wheels_for(one.knowledge.card(gpu).capability))
        for (const WheelTag& wheel : one.knowledge.wheels)
          if (wheel.tag == tag && compare_versions(driver, wheel.minimum_driver) >= 0) {
            result.fix(
                "any",
                fmt::format("pip uninstall torch; pip install torch --index-url https://download.pytorch.org/whl/{}",
                            tag));
            return;
          }
    }
  }
}

void torch_driver(const Case& one, Result& result) {
  if (!know_torch(one, result) || !result.know_driver(one.facts)) return;
  const std::string driver = one.facts.driver_version();
  for (const Torch& torch : *one.facts.frameworks.torch) {
    if (torch.cuda.empty()) continue;
    const std::string minimum = one.knowledge.minimum_driver(torch.cuda);
    if (minimum.empty()) {
      result.cannot_know("the oldest driver for CUDA " + torch.cuda, Known::absent);
    } else if (compare_versions(driver, minimum) < 0) {
      result.because(torch.folder, "torch " + torch.version);
      result.because("driver", driver);
      result.found(fmt::format("torch {} needs driver {}, and {} is here", torch.version, minimum, driver));
    }
  }
}

void torch_gpu(const Case& one, Result& result) {
  if (!know_torch(one, result)) return;
  for (const Torch& torch : *one.facts.frameworks.torch) {
    if (torch.cuda.empty()) continue;
    // Only PyTorch's own builds for x86_64 have the code that the table lists.
    const WheelTag* wheel = one.knowledge.wheel(torch.cuda);
    const std::size_t plus = torch.version.find('+');
    if (wheel == nullptr || torch.from == "conda" || *one.facts.system.architecture != "x86_64" ||
        plus == std::string::npos || torch.version.substr(plus + 1) != wheel->tag) {
      result.cannot_know("for which GPUs torch " + torch.version + " has code", Known::absent);
      continue;
    }
    for (const PciDevice& gpu : one.facts.gpus) {
      const Card card = card_of(one, gpu, result);
      if (card.capability.empty()) continue;
      if (std::count(wheel->by_release.begin(), wheel->by_release.end(), card.capability) > 0) {
        result.cannot_know(fmt::format("whether torch {} has code for capability {}, which only some releases have",
                                       torch.version, card.capability),
                           Known::absent);
        continue;
      }
      if (runs_on(*wheel, card.capability)) continue;
      result.because(torch.folder, "torch " + torch.version);
      result.because("results/doctor/wheels.csv",
                     fmt::format("{} has code for {}", wheel->tag, join(wheel->sass, ", ")));
      result.found(
          fmt::format("torch {} has no code for {} (capability {})", torch.version, gpu.address, card.capability));
      if (const auto tags = one.knowledge.wheels_for(card.capability); !tags.empty())
        result.fix("any", "builds with code for it: " + join(tags, ", "));
      else
        result.fix("any", "build PyTorch from source with TORCH_CUDA_ARCH_LIST=" + card.capability);
    }
  }
}

void conda_and_pip(const Case& one, Result& result) {
  if (!know_torch(one, result)) return;
  if (one.facts.frameworks.conda_and_pip.empty()) return;
  result.because("conda-meta and *.dist-info", join(one.facts.frameworks.conda_and_pip, ", "));
  result.found("both conda and pip installed torch in one environment");
}

void several_torch(const Case& one, Result& result) {
  if (!know_torch(one, result)) return;
  std::set<std::string> versions;
  for (const Torch& torch : *one.facts.frameworks.torch) {
    versions.insert(torch.version);
    result.because(torch.folder, "torch " + torch.version);
  }
  if (versions.size() > 1)
    result.found(fmt::format("{} versions of torch are installed: {}", versions.size(),
                             join({versions.begin(), versions.end()}, ", ")));
}

void nccl_shadowed(const Case& one, Result& result) {
  if (!result.know(one.facts.frameworks.wheels) || !know_loader(one, result)) return;
  const Library* first = one.facts.libraries.first("libnccl");
  for (const Wheel& wheel : *one.facts.frameworks.wheels) {
    if (!starts_with(wheel.name, "nvidia_nccl_")) continue;
    if (first == nullptr || first->from != "LD_LIBRARY_PATH" || first->version.find('.') == std::string::npos) continue;
    if (compare_versions(first->version, wheel.version) >= 0) continue;
    result.because(wheel.folder, wheel.name + " " + wheel.version);
    result.because(first->from, first->real);
    result.found(fmt::format("LD_LIBRARY_PATH puts NCCL {} before the {} that torch was built with", first->version,
                             wheel.version));
  }
}

void companions(const Case& one, Result& result) {
  if (!know_torch(one, result) || !result.know(one.facts.frameworks.wheels)) return;
  for (const Torch& torch : *one.facts.frameworks.torch) {
    if (torch.cuda.empty() || torch.from != "pip") continue;
    bool cublas = false;
    for (const Wheel& wheel : *one.facts.frameworks.wheels)
      cublas = cublas || (wheel.folder == torch.folder && starts_with(wheel.name, "nvidia_cublas"));
    for (const Library* library : one.facts.libraries.named("libcublas")) cublas = cublas || !library->stub;
    if (cublas) continue;
    if (!result.know(one.facts.libraries.all) || !result.know(one.facts.libraries.elsewhere)) continue;
    result.because(torch.folder, "torch " + torch.version + ", no nvidia-cublas beside it");
    result.found(fmt::format("torch {} has none of the libraries that it needs (cuBLAS)", torch.version));
  }
}

void no_library(const Case& one, Result& result) {
  if (!know_torch(one, result)) return;
  for (const Torch& torch : *one.facts.frameworks.torch) {
    if (torch.cuda.empty() || torch.cuda_library) continue;
    result.because(torch.folder, "torch " + torch.version + ", no libtorch_cuda.so");
    result.found(fmt::format("torch {} says CUDA {} and has no libtorch_cuda.so", torch.version, torch.cuda));
  }
}

const Registered checks{{
    {.id = "framework.cpu_torch",
     .layer = Layer::framework,
     .title = "torch is a build for the GPU",
     .needs = Needs::gpu,
     .why = "torch.cuda.is_available() is False, and everything runs on the CPU without a word",
     .fixes = {{"any", "install a build with +cu in its version"}},
     .run = cpu_torch},
    {.id = "framework.torch_driver",
     .layer = Layer::framework,
     .title = "the driver is new enough for torch",
     .needs = Needs::gpu,
     .why = "torch says that the NVIDIA driver on the system is too old, and falls back to the CPU",
     .fixes = {{"any", "update the driver, or install a torch built with an older CUDA"}},
     .run = torch_driver},
    {.id = "framework.torch_gpu",
     .layer = Layer::framework,
     .title = "torch has code for this GPU",
     .needs = Needs::gpu,
     .why =
         "is_available() is True and the first kernel fails: no kernel image is available for execution on the device",
     .run = torch_gpu},
    {.id = "framework.conda_and_pip",
     .layer = Layer::framework,
     .title = "torch has one owner",
     .severity = Severity::degraded,
     .needs = Needs::nothing,
     .why = "the module that is imported is not the package that is listed",
     .fixes = {{"any", "make a new environment, and install torch in it with one of the two"}},
     .run = conda_and_pip},
    {.id = "framework.several_torch",
     .layer = Layer::framework,
     .title = "one torch is installed",
     .severity = Severity::note,
     .needs = Needs::nothing,
     .why = "which one is imported depends on the interpreter and on PYTHONPATH",
     .fixes = {{"any", "use a virtual environment"}},
     .run = several_torch},
    {.id = "framework.nccl_shadowed",
     .layer = Layer::framework,
     .title = "torch loads the NCCL that it was built with",
     .needs = Needs::nothing,
     .why = "import fails with 'undefined symbol: nccl...', or ranks disagree",
     .fixes = {{"any", "take that folder off LD_LIBRARY_PATH"}},
     .run = nccl_shadowed},
    {.id = "framework.companions",
     .layer = Layer::framework,
     .title = "torch has the libraries that it needs",
     .needs = Needs::gpu,
     .why = "an offline install without dependencies leaves them out: libcublas.so.12 cannot be opened",
     .fixes = {{"any", "pip install torch again, with its dependencies"}},
     .run = companions},
    {.id = "framework.cuda_library",
     .layer = Layer::framework,
     .title = "torch's CUDA part is there",
     .needs = Needs::gpu,
     .why = "a mirror that swaps wheels, or a damaged install",
     .fixes = {{"any", "pip install --force-reinstall torch, from PyTorch's index"}},
     .run = no_library},
}};

}  // namespace
}  // namespace assay::doctor
