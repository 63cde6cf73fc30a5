// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// All facts as JSON: results/schema/doctor.v1.json. Each is {"state", "value", "source"}; value is null unless the
// state is "value".
#include "harness/base/text.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

Json json_of(const std::string& text) { return plain(text); }
Json json_of(bool value) { return value; }
Json json_of(int value) { return value; }
Json json_of(std::uint64_t value) { return value; }
Json json_of(double value) { return number(value); }

Json json_of(const Status& status) {
  return {{"major", status.major}, {"minor", status.minor}, {"mode", status.mode},
          {"user", status.user},   {"group", status.group}, {"usable", status.may_read_and_write}};
}
Json json_of(const Bar& bar) { return {{"index", bar.index}, {"bytes", bar.bytes}}; }
Json json_of(const Node& node) { return {{"path", node.path}, {"status", json_of(node.status)}}; }
Json json_of(const Toolkit& toolkit) {
  return {{"folder", plain(toolkit.folder)},
          {"version", text_or_null(plain(toolkit.version))},
          {"compiler", toolkit.compiler}};
}
Json json_of(const Library& library) {
  return {{"path", plain(library.path)},
          {"real", plain(library.real)},
          {"name", library.name},
          {"version", text_or_null(plain(library.version))},
          {"from", library.from},
          {"device", library.device},
          {"inode", library.inode},
          {"bytes", library.bytes},
          {"machine", text_or_null(library.machine)},
          {"stub", library.stub},
          {"compat", library.compat},
          {"order", library.order < 0 ? Json(nullptr) : Json(library.order)}};
}
Json json_of(const Torch& torch) {
  return {{"folder", plain(torch.folder)},
          {"version", plain(torch.version)},
          {"cuda", text_or_null(plain(torch.cuda))},
          {"hip", text_or_null(plain(torch.hip))},
          {"from", torch.from},
          {"cuda_library", torch.cuda_library}};
}
Json json_of(const Wheel& wheel) {
  return {{"folder", plain(wheel.folder)}, {"name", plain(wheel.name)}, {"version", plain(wheel.version)}};
}
Json json_of(const Process& process) { return plain(process.name); }
Json json_of(const LogFinding& finding) {
  return {{"device", finding.device},   {"kind", finding.kind},         {"code", finding.code},
          {"layer", finding.layer},     {"severity", finding.severity}, {"action", finding.action},
          {"meaning", finding.meaning}, {"line", finding.line}};
}
Json json_of(const ProbeResult& probe) {
  return {{"name", plain(probe.name)},   {"outcome", plain(probe.outcome)}, {"worker", plain(probe.worker)},
          {"call", plain(probe.call)},   {"detail", plain(probe.detail)},   {"code", probe.code},
          {"simulated", probe.simulated}};
}
Json json_of(const NvmlAnswer& answer) { return to_json(answer); }
Json json_of(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[plain(key)] = plain(value);
  return json;
}
Json json_of(const PciDevice& device);
Json json_of(const LoadedModule& module);
Json json_of(const DiskModule& module);
template <class T>
Json json_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& one : list) json.push_back(json_of(one));
  return json;
}
template <class T>
Json json_of(const Fact<T>& fact) {
  return {
      {"state", word(fact.state)}, {"value", fact ? json_of(*fact) : Json(nullptr)}, {"source", plain(fact.source)}};
}
Json json_of(const LoadedModule& module) { return {{"name", module.name}, {"version", json_of(module.version)}}; }
Json json_of(const DiskModule& module) {
  return {{"path", plain(module.path)},         {"name", plain(module.name)},
          {"version", json_of(module.version)}, {"vermagic", json_of(module.vermagic)},
          {"license", json_of(module.license)}, {"signed", module.signed_module}};
}

// The size stands for the bytes: they are no text.
Json config_json(const Fact<std::string>& config) {
  Json json = json_of(config);
  if (config) json["value"] = config->size();
  return json;
}

Json json_of(const PciDevice& device) {
  return {{"address", device.address},
          {"vendor", json_of(device.vendor)},
          {"device", json_of(device.device)},
          {"subvendor", json_of(device.subvendor)},
          {"subdevice", json_of(device.subdevice)},
          {"class_code", json_of(device.class_code)},
          {"driver", json_of(device.driver)},
          {"iommu_group", json_of(device.iommu_group)},
          {"power_state", json_of(device.power_state)},
          {"numa_node", json_of(device.numa_node)},
          {"bars", json_of(device.bars)},
          {"speed_gigatransfers", json_of(device.speed_now)},
          {"speed_max_gigatransfers", json_of(device.speed_max)},
          {"width", json_of(device.width_now)},
          {"width_max", json_of(device.width_max)},
          {"aspm", json_of(device.aspm)},
          {"config_bytes", config_json(device.config)},
          {"aer_fatal", json_of(device.aer_fatal)},
          {"aer_nonfatal", json_of(device.aer_nonfatal)},
          {"aer_correctable", json_of(device.aer_correctable)},
          {"above", json_of(device.above)}};
}

Json system_json(const System& system) {
  return {{"kernel", json_of(system.kernel)},
          {"command_line", json_of(system.command_line)},
          {"lockdown", json_of(system.lockdown)},
          {"secure_boot", json_of(system.secure_boot)},
          {"aspm_policy", json_of(system.aspm_policy)},
          {"signatures_enforced", json_of(system.signatures_enforced)},
          {"distribution", json_of(system.distribution)},
          {"distribution_version", json_of(system.distribution_version)},
          {"distribution_like", json_of(system.distribution_like)},
          {"architecture", json_of(system.architecture)},
          {"modules_disabled", json_of(system.modules_disabled)},
          {"selinux_enforcing", json_of(system.selinux_enforcing)},
          {"numa_balancing", json_of(system.numa_balancing)},
          {"numa_nodes", json_of(system.numa_nodes)},
          {"iommu_type", json_of(system.iommu_type)},
          {"vendor", json_of(system.vendor)},
          {"product", json_of(system.product)},
          {"cloud", text_or_null(system.cloud)},
          {"wsl", system.wsl},
          {"virtual_machine", system.virtual_machine}};
}

Json modules_json(const Modules& modules) {
  return {{"loaded", json_of(modules.loaded)},
          {"disk", json_of(modules.disk)},
          {"other_kernels", json_of(modules.other_kernels)},
          {"dkms", json_of(modules.dkms)},
          {"blacklists", json_of(modules.blacklists)},
          {"options", json_of(modules.options)},
          {"headers", json_of(modules.headers)},
          {"version_text", json_of(modules.version_text)},
          {"version", json_of(modules.version)},
          {"flavour", json_of(modules.flavour)},
          {"gpus", json_of(modules.gpus)},
          {"gsp_firmware", json_of(modules.gsp_firmware)}};
}

Json nodes_json(const Nodes& nodes) {
  return {{"control", json_of(nodes.control)},
          {"uvm", json_of(nodes.uvm)},
          {"modeset", json_of(nodes.modeset)},
          {"dxg", json_of(nodes.dxg)},
          {"gpus", json_of(nodes.gpus)},
          {"switches", json_of(nodes.switches)},
          {"capabilities", json_of(nodes.capabilities)},
          {"imex_channels", json_of(nodes.imex_channels)}};
}

}  // namespace

Json to_json(const Facts& facts) {
  const Libraries& libraries = facts.libraries;
  const Container& container = facts.container;
  const Cluster& cluster = facts.cluster;
  return {
      {"bus", json_of(facts.bus)},
      {"gpus", json_of(facts.gpus)},
      {"switches", json_of(facts.switches)},
      {"displays", json_of(facts.displays)},
      {"network_cards", json_of(facts.nics)},
      {"bridges", json_of(facts.bridges)},
      {"hidden", facts.hidden},
      {"rdma", json_of(facts.rdma)},
      {"system", system_json(facts.system)},
      {"modules", modules_json(facts.modules)},
      {"nodes", nodes_json(facts.nodes)},
      {"nvml", json_of(facts.nvml)},
      {"libraries", json_of(libraries.all)},
      {"libraries_elsewhere", json_of(libraries.elsewhere)},
      {"toolkits", json_of(libraries.toolkits)},
      {"loader_folders", json_of(libraries.cache_folders)},
      {"torch", json_of(facts.frameworks.torch)},
      {"wheels", json_of(facts.frameworks.wheels)},
      {"container",
       {{"kind", json_of(container.kind)},
        {"driver_mounts", json_of(container.driver_mounts)},
        {"device_rules", json_of(container.device_rules)},
        {"shm_bytes", json_of(container.shm_bytes)},
        {"memlock_bytes", json_of(container.memlock_bytes)}}},
      {"cluster",
       {{"processes", json_of(cluster.processes)},
        {"packages", json_of(cluster.packages)},
        {"imex_nodes", json_of(cluster.imex_nodes)},
        {"slurm_gres", json_of(cluster.slurm_gres)},
        {"vgpu_configuration", json_of(cluster.vgpu_configuration)},
        {"clock_synchronised", json_of(cluster.clock_synchronised)},
        {"clock_s", json_of(cluster.clock_s)}}},
      {"environment", json_of(facts.environment)},
      {"log", json_of(facts.log)},
      {"log_is_whole", facts.log_is_whole},
      {"silent_mounts", facts.silent_mounts},
      {"probes", json_of(facts.probes)},
  };
}

}  // namespace assay::doctor
