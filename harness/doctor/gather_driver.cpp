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
  const auto listed = [&](const std::string& path) {
    Fact<std::vector<std::string>> names = root.list(path);
    if (names.unknown()) facts.modules.dkms.state = names.state;
    return names;
  };
  for (const std::string& package : *packages) {
    if (!starts_with(package, "nvidia")) continue;
    const std::string folder = "/var/lib/dkms/" + package;
    for (const std::string& version : *listed(folder)) {
      if (version.empty() || version[0] < '0' || version[0] > '9') continue;
      bool built = false;
      for (const std::string& kernel : *listed(folder + "/" + version)) {
        if (kernel == "source" || kernel == "build") continue;
        built = true;
        facts.modules.dkms.value.push_back(package + "/" + version + ": built for " + kernel);
      }
      if (!built) facts.modules.dkms.value.push_back(package + "/" + version + ": added, not built");
    }
  }
}

// Of the configuration of modprobe.
void read_configuration(const Root& root, Facts& facts) {
  Modules& modules = facts.modules;
  modules.blacklists = modules.options = {Known::value, {}, "/etc/modprobe.d"};
  const auto hidden = [&](const auto& fact) {
    if (fact.unknown()) modules.blacklists = modules.options = {fact.state, {}, fact.source};
  };
  for (const char* folder : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/lib/modprobe.d"}) {
    const Fact<std::vector<std::string>> names = root.list(folder);
    hidden(names);
    for (const std::string& name : *names) {
      if (name.size() < 5 || name.substr(name.size() - 5) != ".conf") continue;  // modprobe reads no others
      const std::string path = std::string(folder) + "/" + name;
      const Fact<std::string> text = root.text(path);
      hidden(text);
      for (const std::string& row : split(*text, '\n')) {
        std::vector<std::string> words = split(trim(row), ' ');
        words.erase(std::remove(words.begin(), words.end(), ""), words.end());
        const bool blacklist = words.size() >= 2 && words[0] == "blacklist";
        const bool emptied = words.size() >= 3 && words[0] == "install" && words[2].find("/bin/") != std::string::npos;
        if (blacklist || emptied) modules.blacklists.value.push_back(words[1] + " (" + path + ")");
        if (words.size() >= 3 && words[0] == "options" && starts_with(words[1], "nvidia"))
          modules.options.value.push_back(join(words, " ") + " (" + path + ")");
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

// A plain file of that name, as some containers have it, is none.
Fact<Status> device_node(const Root& root, const std::string& path) {
  Fact<Status> status = root.node(path);
  return status && status->kind != Status::Kind::device ? Fact<Status>::not_known(Known::unreadable, path) : status;
}

void read_nodes(const Root& root, Facts& facts) {
  Nodes& nodes = facts.nodes;
  nodes.control = device_node(root, "/dev/nvidiactl");
  nodes.uvm = device_node(root, "/dev/nvidia-uvm");
  nodes.modeset = device_node(root, "/dev/nvidia-modeset");
  nodes.dxg = device_node(root, "/dev/dxg");
  const Fact<std::vector<std::string>> names = root.list("/dev");
  nodes.gpus = {names.state, {}, "/dev/nvidia*"};
  nodes.switches = {names.state, {}, "/dev/nvidia-nvswitch*"};
  for (const std::string& name : *names) {
    const bool gpu = starts_with(name, "nvidia") && only_number<int>(std::string_view(name).substr(6));
    const bool nvswitch = starts_with(name, "nvidia-nvswitch") && only_number<int>(std::string_view(name).substr(15));
    if (!gpu && !nvswitch) continue;
    const Fact<Status> status = device_node(root, "/dev/" + name);
    auto& kind = gpu ? nodes.gpus : nodes.switches;
    if (status)
      kind.value.push_back({status.source, *status});
    else if (status.unknown())
      kind = {status.state, {}, status.source};
  }
  nodes.capabilities = root.list("/dev/nvidia-caps");
  nodes.imex_channels = root.list("/dev/nvidia-caps-imex-channels");
}

// Where device nodes are missing, NVML would start nvidia-modprobe, as root.
NvmlAnswer ask_without_programs(const std::string& library) {
  if (forbid_programs()) return ask_nvml(library.c_str(), true);
  NvmlAnswer answer;
  answer.code = nvml_not_asked;
  answer.detail = "no NVML: it was not asked, because nothing here can keep it from starting programs (seccomp)";
  return answer;
}

Fact<NvmlAnswer> ask_in_child(const GatherOptions& options) {
  Watched child([&](const std::string&) { return to_json(ask_without_programs(options.nvml_library)).dump(); },
                options.nvml_patience_s);
  std::string text;
  if (child.ask("", text)) try {
      return Fact<NvmlAnswer>::of(nvml_from_json(Json::parse(text)), "NVML");
    } catch (const Json::exception&) {
    }
  return Fact<NvmlAnswer>::not_known(child.late() ? Known::late : Known::unreadable, "NVML");
}

}  // namespace

const DiskModule* Modules::on_disk() const {
  for (const DiskModule& module : disk.value)
    if (module.name == "nvidia") return &module;
  return nullptr;
}

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
  read_configuration(root, facts);
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
