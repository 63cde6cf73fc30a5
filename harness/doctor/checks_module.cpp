// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The kernel module: is it there for this kernel, may it be loaded, is it the right one, and does it have the GPUs?
// Trap: in a container /lib/modules is the image's own and says nothing of the host.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

void held_by(const Case& one, Result& result, const char* driver) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.driver) || *gpu.driver != driver) continue;
    result.because(gpu.driver);
    result.found(fmt::format("{} is held by {}", gpu.address, driver));
  }
}

void loaded(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (modules.version || modules.find("nvidia") != nullptr) return;
  // Either list alone decides; only when both can't be read, nobody knows.
  // Without both there is no /proc.
  if (modules.loaded.unknown() ? modules.version_text.unknown() : !modules.loaded && !modules.version_text) {
    result.have(modules.loaded);
    return;
  }
  result.because("/proc/modules", "no nvidia");
  result.because(modules.version_text);
  result.found("the kernel module nvidia is not loaded");
}

void installed(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (modules.version || modules.find("nvidia") != nullptr) return;  // it runs
  if (!result.know(one.facts.system.kernel) || !result.know(modules.disk)) return;
  if (one.facts.modules.on_disk() != nullptr) return;
  result.because(modules.disk.source, "no nvidia.ko");
  if (!modules.other_kernels->empty()) {
    result.because(modules.other_kernels);
    result.found(fmt::format("the kernel {} has no nvidia module; {} has one", *one.facts.system.kernel,
                             modules.other_kernels->back()));
    result.fix("any", "start the kernel that has it, or build it for this one");
  } else {
    result.found("no nvidia module is installed");
  }
}

void dkms(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (!result.know(modules.dkms)) return;
  if (modules.dkms->empty()) return result.not_applicable("no NVIDIA package of DKMS");
  if (!result.know(one.facts.system.kernel)) return;
  for (const std::string& row : *modules.dkms)
    if (row.find("built for " + *one.facts.system.kernel) != std::string::npos) return;
  result.because(modules.dkms);
  result.found("DKMS has NVIDIA's source, and has not built it for the kernel that runs");
}

void headers(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (!result.know(modules.dkms) || !result.know(modules.headers)) return;
  if (modules.dkms->empty()) return result.not_applicable("nothing is built by DKMS");
  if (*modules.headers) return;
  result.because(modules.headers.source, "is not there");
  result.found("the headers of the running kernel are missing, so no module can be built");
}

void upgraded(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (!result.know(modules.version) || !result.know(modules.disk)) return;
  const DiskModule* disk = one.facts.modules.on_disk();
  if (!modules.version || disk == nullptr) return result.not_applicable("not both loaded and on disk");
  if (!disk->version) return result.cannot_know(disk->path, Known::unreadable);
  if (*disk->version == *modules.version) return;
  result.because(modules.version);
  result.because(disk->path, *disk->version);
  result.found(
      fmt::format("{} is loaded, {} is installed: upgraded without a restart", *modules.version, *disk->version));
}

void vermagic(const Case& one, Result& result) {
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (!result.know(one.facts.system.kernel) || !result.know(one.facts.modules.disk)) return;
  const DiskModule* disk = one.facts.modules.on_disk();
  if (disk == nullptr) return result.not_applicable("no module on disk");
  if (!disk->vermagic) return result.cannot_know(disk->path, Known::unreadable);
  const std::string built_for = disk->vermagic->substr(0, disk->vermagic->find(' '));
  if (built_for == *one.facts.system.kernel) return;
  result.because(disk->path, *disk->vermagic);
  result.because(one.facts.system.kernel);
  result.found(fmt::format("the module was built for the kernel {}", built_for));
}

std::string flavour(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (modules.flavour) {
    result.because(modules.flavour.source, *modules.flavour);
    return *modules.flavour;
  }
  if (!result.know(modules.flavour)) return "";
  if (in_container(one)) {
    result.not_applicable("a container does not see the host's module on disk, and none is loaded");
    return "";
  }
  if (!result.have(modules.disk)) return "";
  const DiskModule* disk = one.facts.modules.on_disk();
  if (disk == nullptr) {
    result.not_applicable("no module is loaded or installed");
    return "";
  }
  if (!disk->license) {
    result.cannot_know(disk->path, Known::unreadable);
    return "";
  }
  result.because(disk->path, "license " + *disk->license);
  return disk->license->find("GPL") != std::string::npos ? "open" : "proprietary";
}

void flavour_fits(const Case& one, Result& result, const char* has, const char* needed) {
  const std::string kind = flavour(one, result);
  if (kind != has) return;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = card_of(one, gpu, result);
    if (card.row == nullptr) continue;
    const bool grace = starts_with(card.class_id, "gh200");  // only the open module knows its link to the CPU
    if (card.row->module != needed && !(grace && std::string_view(needed) == "open")) continue;
    result.because(gpu.device.source,
                   fmt::format("{} ({})", gpu.id(), card.product.empty() ? card.family : card.product));
    result.found(fmt::format("{} needs the {} module, and the {} one is here", gpu.address, needed, has));
  }
}

void without(const Case& one, Result& result, const char* module, const std::string& what) {
  const Modules& modules = one.facts.modules;
  if (!result.have(modules.loaded)) return;  // a container may hide it
  if (modules.find("nvidia") == nullptr) return result.not_applicable("nvidia isn't loaded either");
  if (modules.find(module) != nullptr) return;
  result.because("/proc/modules", fmt::format("no {}", module));
  result.found(what);
}

void uvm(const Case& one, Result& result) { without(one, result, "nvidia_uvm", "the module nvidia_uvm is not loaded"); }

void drm(const Case& one, Result& result) { without(one, result, "nvidia_drm", "the module nvidia_drm is not loaded"); }

void peermem(const Case& one, Result& result) {
  if (!has_rdma(one, result)) return;
  if (one.facts.modules.find("nv_peer_mem") != nullptr) return;
  without(one, result, "nvidia_peermem", "RDMA cards are here and nvidia_peermem is not loaded");
}

void took_all(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (!result.know(modules.version)) return;
  if (!modules.version) return result.not_applicable("no module is loaded");
  if (!result.have(modules.gpus)) return;
  for (const PciDevice& gpu : one.facts.gpus) {
    if (std::count(modules.gpus->begin(), modules.gpus->end(), gpu.address) > 0) continue;
    if (*gpu.driver == "vfio-pci") continue;
    result.because(modules.gpus);
    result.found(fmt::format("the driver did not take {}", gpu.address));
  }
}

void firmware(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's firmware files");
  if (!result.know(modules.version)) return;
  if (!modules.version) return result.not_applicable("no module is loaded");
  if (compare_versions(*modules.version, "470") < 0) return result.not_applicable("this driver uses no GSP firmware");
  bool any = false;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = card_of(one, gpu, result);
    any = any || (card.row != nullptr && compare_versions(card.row->capability, "7.5") >= 0);
  }
  if (!any) return result.not_applicable("the GPU has no GSP");
  if (!result.know(modules.gsp_firmware)) return;
  const std::vector<std::string>& versions = *modules.gsp_firmware;
  if (std::count(versions.begin(), versions.end(), *modules.version) > 0) return;
  result.because(modules.gsp_firmware);
  result.because(modules.version);
  result.found(fmt::format("the firmware files of driver {} are missing", *modules.version));
}

void nouveau_beside(const Case& one, Result& result) {
  if (!result.have(one.facts.modules.loaded)) return;
  for (const char* name : {"nouveau", "nvidiafb"}) {
    if (one.facts.modules.find(name) == nullptr) continue;
    const bool holds = std::any_of(one.facts.gpus.begin(), one.facts.gpus.end(),
                                   [&](const PciDevice& gpu) { return *gpu.driver == name; });
    if (holds) continue;
    result.because("/proc/modules", name);
    result.found(fmt::format("{} is loaded beside NVIDIA's driver", name));
  }
}

const std::vector<Fix> install = {
    {"debian",
     "apt install nvidia-open (CUDA repository) or nvidia-driver (Debian non-free); Ubuntu: ubuntu-drivers install"},
    {"rhel", "dnf module install nvidia-driver:open-dkms"},
    {"cloud", "start from an image with the driver, or use the cloud's extension for it"}};

const Registered checks{{
    {.id = "module.nouveau",
     .layer = Layer::module,
     .title = "nouveau does not hold a GPU",
     .why = "the kernel's own driver shows a picture, and has no CUDA; while it holds the card, nvidia can't",
     .fixes = {{"debian", "echo 'blacklist nouveau' > /etc/modprobe.d/nouveau.conf; update-initramfs -u; restart"},
               {"rhel", "grubby --update-kernel=ALL --args=rd.driver.blacklist=nouveau; dracut -f; restart"}},
     .run = [](const Case& one, Result& result) { held_by(one, result, "nouveau"); }},
    {.id = "module.nova",
     .layer = Layer::module,
     .title = "nova does not hold a GPU",
     .why = "the kernel's newer driver has no CUDA; while it holds the card, nvidia can't",
     .fixes = {{"any", "blacklist nova_core as one would nouveau, and restart"}},
     .run =
         [](const Case& one, Result& result) {
           held_by(one, result, "nova-core");
           held_by(one, result, "NovaCore");
         }},
    {.id = "module.installed",
     .layer = Layer::module,
     .title = "a module of NVIDIA's exists for the running kernel",
     .chain = true,
     .why = "a kernel update brings a kernel without it where it is not rebuilt by itself",
     .fixes = install,
     .run = installed},
    {.id = "module.headers",
     .layer = Layer::module,
     .title = "the kernel's headers are there to build a module",
     .severity = Severity::degraded,
     .why = "the next kernel update leaves the machine without a driver",
     .fixes = {{"debian", "apt install linux-headers-$(uname -r)"}, {"rhel", "dnf install kernel-devel-$(uname -r)"}},
     .run = headers},
    {.id = "module.dkms",
     .layer = Layer::module,
     .title = "DKMS has built the module for the running kernel",
     .why = "the source is there, the module isn't",
     .fixes = {{"any", "dkms autoinstall; read /var/lib/dkms/nvidia/*/build/make.log"}},
     .after = {"module.headers"},
     .run = dkms},
    {.id = "module.vermagic",
     .layer = Layer::module,
     .title = "the module was built for this kernel",
     .why = "the kernel refuses it: invalid module format",
     .fixes = {{"any", "build it again: dkms autoinstall, or reinstall the driver"}},
     .run = vermagic},
    {.id = "module.open_needed",
     .layer = Layer::module,
     .title = "no GPU needs the open module instead",
     .why = "Blackwell and Grace Hopper start only with the open kernel module: RmInitAdapter failed 0x22:0x56",
     .fixes = {{"debian", "apt install nvidia-open"}, {"rhel", "dnf module switch-to nvidia-driver:open-dkms"}},
     .run = [](const Case& one, Result& result) { flavour_fits(one, result, "proprietary", "open"); }},
    {.id = "module.proprietary_needed",
     .layer = Layer::module,
     .title = "no GPU needs the proprietary module instead",
     .why = "cards before Turing have no GSP, which the open module needs",
     .fixes = {{"debian", "apt install cuda-drivers-580"}, {"any", "the last branch for these cards is 580"}},
     .run = [](const Case& one, Result& result) { flavour_fits(one, result, "open", "proprietary"); }},
    {.id = "module.loaded",
     .layer = Layer::module,
     .title = "the module nvidia is loaded",
     .chain = true,
     .why = "without it there are no device nodes, and every tool says that it can't talk to the driver",
     .fixes = {{"any", "modprobe nvidia, then read the end of the kernel's log"}, {"container", "load it on the host"}},
     .after = {"module.installed", "module.nouveau", "module.nova", "module.vermagic", "module.blacklisted",
               "module.disabled", "module.secure_boot", "module.dkms", "bus.vfio", "bus.gpu"},
     .run = loaded},
    {.id = "module.upgraded",
     .layer = Layer::module,
     .title = "the loaded module is the installed one",
     .why = "user space follows the files: NVML says 'driver/library version mismatch', CUDA 803 or 804",
     .fixes = {{"any",
                "restart; or stop all that uses the GPU, rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia, modprobe "
                "nvidia"}},
     .run = upgraded},
    {.id = "module.took_all",
     .layer = Layer::module,
     .title = "the driver took every GPU",
     .chain = true,
     .why = "a GPU that failed to start is missing in every list",
     .fixes = {{"any", "read the kernel's log for 'RmInitAdapter failed' with assay explain"}},
     .after = {"bus.answers", "bus.bars", "module.open_needed", "module.proprietary_needed", "bus.vfio"},
     .run = took_all},
    {.id = "module.firmware",
     .layer = Layer::module,
     .title = "the firmware files of the driver are there",
     .why = "from Turing on the driver loads GSP firmware of exactly its own version",
     .fixes = {{"debian", "apt install --reinstall nvidia-firmware-*, libnvidia-gpucomp* or firmware-nvidia-gsp"},
               {"rhel", "dnf reinstall nvidia-driver"}},
     .run = firmware},
    {.id = "module.uvm",
     .layer = Layer::module,
     .title = "nvidia_uvm is loaded",
     .why = "CUDA can't start without it: error 3 or 999",
     .fixes = {{"any", "modprobe nvidia_uvm; or run nvidia-modprobe -u -c 0"}},
     .after = {"module.loaded"},
     .run = uvm},
    {.id = "module.drm",
     .layer = Layer::module,
     .title = "nvidia_drm is loaded",
     .severity = Severity::note,
     .why = "a desktop on this card needs it; computing doesn't",
     .fixes = {{"any", "modprobe nvidia_drm"}},
     .run = drm},
    {.id = "module.peermem",
     .layer = Layer::module,
     .title = "RDMA cards can reach GPU memory",
     .severity = Severity::note,
     .why = "without nvidia_peermem only the newer way (dma-buf) is left; NCCL says which it uses",
     .fixes = {{"any", "modprobe nvidia_peermem, or use a kernel and libraries with dma-buf"}},
     .run = peermem},
    {.id = "module.beside",
     .layer = Layer::module,
     .title = "no other driver is loaded beside it",
     .severity = Severity::note,
     .why = "at the next start the other one may be first",
     .fixes = {{"any", "blacklist it"}},
     .run = nouveau_beside},
}};

}  // namespace
}  // namespace assay::doctor
