// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The kernel module (loaded, and on disk for this kernel), the device nodes, and NVML. Traps: the module on disk may be
// newer than the one that runs; a compressed module file says nothing without unpacking it; NVML can hang where the
// driver does, so a child asks it.
#include <algorithm>
#include <set>

#include "harness/base/error.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/elf.h"
#include "harness/doctor/facts.h"
#include "harness/doctor/watched.h"

namespace assay::doctor {
namespace {

const std::set<std::string> watched_modules = {"nvidia",           "nvidia_uvm",  "nvidia_drm", "nvidia_modeset",
                                               "nvidia_peermem",   "nv_peer_mem", "nouveau",    "nova_core",
                                               "nvidia_vgpu_vfio", "nvidiafb",    "vfio_pci",   "gdrdrv"};

Fact<std::vector<LoadedModule>> loaded_modules(const Root& root) {
  const Fact<std::string> list = root.text("/proc/modules");
  std::vector<LoadedModule> modules;
  // A kernel without modules has no /proc/modules; what is compiled in stands in /sys/module all the same.
  for (const std::string& row : split(*list, '\n')) {
    const std::string name = row.substr(0, row.find(' '));
    if (watched_modules.count(name) > 0) modules.push_back({name, root.line("/sys/module/" + name + "/version")});
  }
  return {list.state, modules, list.source};
}

// "updates/dkms/nvidia.ko.zst" is nvidia.
std::string module_name(const std::string& file) {
  std::string name = file.substr(0, file.find(".ko"));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void read_disk(const Root& root, Facts& facts) {
  Modules& modules = facts.modules;
  const Fact<std::vector<std::string>> kernels = root.list("/lib/modules");
  modules.disk = {kernels.state, {}, "/lib/modules/" + *facts.system.kernel};
  modules.other_kernels = {kernels.state, {}, "/lib/modules"};
  if (!facts.system.kernel) modules.disk.state = facts.system.kernel.state;
  for (const std::string& kernel : *kernels)
    for (const char* place :
         {"/updates/dkms", "/updates", "/extra", "/extra/nvidia", "/weak-updates/nvidia", "/kernel/drivers/video",
          "/kernel/drivers/video/nvidia", "/kernel/nvidia*", "/misc", "/extramodules"})
      for (const std::string& path : root.glob("/lib/modules/" + kernel + place + "/nvidia*.ko*")) {
        const std::string name = module_name(path.substr(path.rfind('/') + 1));
        if (name == "nvidiafb") continue;
        if (kernel != *facts.system.kernel) {
          if (name == "nvidia") modules.other_kernels.value.push_back(kernel);
          continue;
        }
        DiskModule module{path, name, {}, {}, {}};
        const auto info = module_info(root, path);
        const auto field = [&](const char* key) {
          return info.as([&](const std::map<std::string, std::string>& pairs) {
            const auto found = pairs.find(key);
            return found == pairs.end() ? std::nullopt : std::optional(found->second);
          });
        };
        module.version = field("version");
        module.vermagic = field("vermagic");
        module.license = field("license");
        module.signed_module = info && info->count("signed") > 0;
        modules.disk.value.push_back(module);
      }
}

void read_dkms(const Root& root, Facts& facts) {
  const Fact<std::vector<std::string>> packages = root.list("/var/lib/dkms");
  facts.modules.dkms = {packages.state, {}, packages.source};
  for (const std::string& package : *packages) {
    if (!starts_with(package, "nvidia")) continue;
    const std::string folder = "/var/lib/dkms/" + package;
    for (const std::string& version : *root.list(folder)) {
      if (version.empty() || version[0] < '0' || version[0] > '9') continue;
      bool built = false;
      for (const std::string& kernel : *root.list(folder + "/" + version)) {
        if (kernel == "source" || kernel == "build") continue;
        built = true;
        facts.modules.dkms.value.push_back(package + "/" + version + ": built for " + kernel);
      }
      if (!built) facts.modules.dkms.value.push_back(package + "/" + version + ": added, not built");
    }
  }
}

void read_blacklists(const Root& root, Facts& facts) {
  facts.modules.blacklists = {Known::value, {}, "/etc/modprobe.d"};
  for (const char* folder : {"/etc/modprobe.d", "/run/modprobe.d", "/lib/modprobe.d"}) {
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (names.unknown()) facts.modules.blacklists = {names.state, {}, folder};
    for (const std::string& name : *names) {
      const std::string path = std::string(folder) + "/" + name;
      for (const std::string& row : split(*root.text(path), '\n')) {
        std::vector<std::string> words = split(trim(row), ' ');
        words.erase(std::remove(words.begin(), words.end(), ""), words.end());
        const bool blacklist = words.size() >= 2 && words[0] == "blacklist";
        const bool emptied = words.size() >= 3 && words[0] == "install" && words[2].find("/bin/") != std::string::npos;
        if (blacklist || emptied) facts.modules.blacklists.value.push_back(words[1] + " (" + path + ")");
      }
    }
  }
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build ..."
std::optional<std::string> version_in(const std::string& text) {
  for (const std::string& word : split(text.substr(0, text.find('\n')), ' '))
    if (std::count(word.begin(), word.end(), '.') >= 1 && word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return std::nullopt;
}

std::optional<std::string> flavour_in(const std::string& text) {
  if (text.find("NVRM version") == std::string::npos) return std::nullopt;
  return text.find("Open Kernel Module") != std::string::npos ? "open" : "proprietary";
}

void read_nodes(const Root& root, Facts& facts) {
  Nodes& nodes = facts.nodes;
  nodes.control = root.node("/dev/nvidiactl");
  nodes.uvm = root.node("/dev/nvidia-uvm");
  nodes.modeset = root.node("/dev/nvidia-modeset");
  nodes.dxg = root.node("/dev/dxg");
  const Fact<std::vector<std::string>> names = root.list("/dev");
  nodes.gpus = {names.state, {}, "/dev/nvidia*"};
  nodes.switches = {names.state, {}, "/dev/nvidia-nvswitch*"};
  for (const std::string& name : *names) {
    const bool gpu = starts_with(name, "nvidia") && only_number<int>(std::string_view(name).substr(6));
    const bool nvswitch = starts_with(name, "nvidia-nvswitch") && only_number<int>(std::string_view(name).substr(15));
    if (!gpu && !nvswitch) continue;
    const Fact<Status> status = root.node("/dev/" + name);
    (gpu ? nodes.gpus : nodes.switches).value.push_back({"/dev/" + name, *status});
  }
  nodes.capabilities = root.list("/dev/nvidia-caps");
  nodes.imex_channels = root.list("/dev/nvidia-caps-imex-channels");
}

Fact<NvmlAnswer> ask_in_child(const GatherOptions& options) {
  Watched child([&](const std::string&) { return to_json(ask_nvml(options.nvml_library.c_str(), true)).dump(); },
                options.nvml_patience_s);
  std::string text;
  if (child.ask("", text)) try {
      return Fact<NvmlAnswer>::of(nvml_from_json(Json::parse(text)), "NVML");
    } catch (const Json::exception&) {
    }
  return Fact<NvmlAnswer>::not_known(child.late() ? Known::late : Known::unreadable, "NVML");
}

}  // namespace

const LoadedModule* Modules::find(const std::string& name) const {
  for (const LoadedModule& module : loaded.value)
    if (module.name == name) return &module;
  return nullptr;
}

void gather_driver(const Root& root, const GatherOptions& options, Facts& facts) {
  Modules& modules = facts.modules;
  modules.loaded = loaded_modules(root);
  read_disk(root, facts);
  read_dkms(root, facts);
  read_blacklists(root, facts);
  const Fact<Status> headers = root.status("/lib/modules/" + *facts.system.kernel + "/build");
  modules.headers = {headers.unknown() || !facts.system.kernel ? headers.state : Known::value,
                     static_cast<bool>(headers), headers.source};
  modules.version_text = root.text("/proc/driver/nvidia/version");
  modules.version = modules.version_text.as(version_in);
  modules.flavour = modules.version_text.as(flavour_in);
  modules.gpus = root.list("/proc/driver/nvidia/gpus");
  modules.gsp_firmware = root.list("/lib/firmware/nvidia");
  read_nodes(root, facts);
  if (!root.is_this_machine()) {
    facts.nvml = root.text("/.assay/nvml.json").as([](const std::string& text) -> std::optional<NvmlAnswer> {
      try {
        return nvml_from_json(Json::parse(text));
      } catch (const std::exception&) {
        return std::nullopt;
      }
    });
    facts.nvml.source = "NVML";
  } else if (!options.nvml_library.empty()) {
    facts.nvml = ask_in_child(options);
  }
}

}  // namespace assay::doctor
