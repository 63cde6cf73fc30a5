// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is known of a machine, field by field, with the form in which its texts may leave the machine: the
// one list for whoever makes them fit to be shown, writes them into a bundle or reads them back. A structured binding
// names every member, so that a new fact doesn't compile until it stands here; what holds no text has no form.
//
// A visitor is called as v(name, member) or v(name, member, form).
#pragma once

#include "harness/doctor/allowed_text.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {

// The configuration space of a device: only what is asked of it leaves the machine, see pci_config.h.
struct Config {
  Fact<std::string>& bytes;
};

template <class V>
void fields(V& v, Bar& bar) {
  auto& [index, bytes] = bar;
  v("index", index);
  v("bytes", bytes);
}

template <class V>
void fields(V& v, PciDevice& device) {
  auto& [address, vendor, id, subvendor, subdevice, class_code, driver, iommu_group, power_state, numa_node, bars,
         speed_now, speed_max, width_now, width_max, aspm, config, aer_fatal, aer_nonfatal, aer_correctable, above] =
      device;
  v("address", address, Form::address);
  v("vendor", vendor, Form::hex);
  v("device", id, Form::hex);
  v("subvendor", subvendor, Form::hex);
  v("subdevice", subdevice, Form::hex);
  v("class_code", class_code, Form::hex);
  v("driver", driver, Form::word);
  v("iommu_group", iommu_group, Form::number);
  v("power_state", power_state, Form::word);
  v("numa_node", numa_node);
  v("bars", bars);
  v("speed_gigatransfers", speed_now);
  v("speed_max_gigatransfers", speed_max);
  v("width", width_now);
  v("width_max", width_max);
  v("aspm", aspm);
  Config space{config};
  v("config", space);
  v("aer_fatal", aer_fatal);
  v("aer_nonfatal", aer_nonfatal);
  v("aer_correctable", aer_correctable);
  v("above", above, Form::address);
}

template <class V>
void fields(V& v, System& system) {
  auto& [kernel, command_line, lockdown, secure_boot, distribution, distribution_version, distribution_like,
         architecture, aspm_policy, signatures_enforced, modules_disabled, selinux_enforcing, numa_balancing,
         numa_nodes, iommu_type, vendor, product, cloud, wsl, virtual_machine] = system;
  v("kernel", kernel, Form::version);
  v("command_line", command_line, Form::command_line);
  v("lockdown", lockdown, Form::word);
  v("secure_boot", secure_boot);
  v("distribution", distribution, Form::word);
  v("distribution_version", distribution_version, Form::version);
  v("distribution_like", distribution_like, Form::words);
  v("architecture", architecture, Form::word);
  v("aspm_policy", aspm_policy, Form::word);
  v("signatures_enforced", signatures_enforced);
  v("modules_disabled", modules_disabled);
  v("selinux_enforcing", selinux_enforcing);
  v("numa_balancing", numa_balancing);
  v("numa_nodes", numa_nodes);
  v("iommu_type", iommu_type, Form::word);
  v("vendor", vendor, Form::words);
  v("product", product, Form::words);
  v("cloud", cloud, Form::word);
  v("wsl", wsl);
  v("virtual_machine", virtual_machine);
}

template <class V>
void fields(V& v, LoadedModule& module) {
  auto& [name, version] = module;
  v("name", name, Form::word);
  v("version", version, Form::version);
}

template <class V>
void fields(V& v, DiskModule& module) {
  auto& [path, name, version, vermagic, license, is_signed] = module;
  v("path", path, Form::path);
  v("name", name, Form::word);
  v("version", version, Form::version);
  v("vermagic", vermagic, Form::words);
  v("license", license, Form::words);
  v("signed", is_signed);
}

template <class V>
void fields(V& v, Modules& modules) {
  auto& [loaded, disk, other_kernels, dkms, blacklists, options, headers, version_text, version, flavour, gpus,
         gsp_firmware] = modules;
  v("loaded", loaded);
  v("disk", disk);
  v("other_kernels", other_kernels, Form::version);
  v("dkms", dkms, Form::words);
  v("blacklists", blacklists, Form::words);
  v("options", options, Form::words);
  v("headers", headers);
  v("version_text", version_text, Form::left_out);  // who built it, and when; its version and flavour follow
  v("version", version, Form::version);
  v("flavour", flavour, Form::word);
  v("gpus", gpus, Form::address);
  v("gsp_firmware", gsp_firmware, Form::version);
}

template <class V>
void fields(V& v, Status& status) {
  auto& [kind, device, inode, size, major, minor, mode, user, group, may_read_and_write] = status;
  (void)kind, (void)device, (void)inode, (void)size;  // of a device node nobody asks for these
  v("major", major);
  v("minor", minor);
  v("mode", mode);
  v("user", user, Form::account);
  v("group", group, Form::account);
  v("usable", may_read_and_write);
}

template <class V>
void fields(V& v, Node& node) {
  auto& [path, status] = node;
  v("path", path, Form::path);
  v("status", status);
}

template <class V>
void fields(V& v, Nodes& nodes) {
  auto& [control, uvm, modeset, dxg, gpus, switches, capabilities, imex_channels] = nodes;
  v("control", control);
  v("uvm", uvm);
  v("modeset", modeset);
  v("dxg", dxg);
  v("gpus", gpus);
  v("switches", switches);
  v("capabilities", capabilities, Form::word);
  v("imex_channels", imex_channels, Form::word);
}

template <class V>
void fields(V& v, DeviceInfo& device) {
  auto& [id, kind, name, simulated, pci_address, uuid, facts, labels] = device;
  v("id", id, Form::word);
  v("kind", kind, Form::word);
  v("name", name, Form::product);
  v("simulated", simulated);
  v("pci_address", pci_address, Form::address);
  v("uuid", uuid, Form::identifier);
  v("facts", facts, Form::nvml_name);
  v("labels", labels, Form::words);
}

template <class V>
void fields(V& v, NvmlAnswer& answer) {
  auto& [loaded, detail, devices, code, driver, cuda] = answer;
  v("loaded", loaded);
  v("code", code);
  v("detail", detail, Form::words);
  v("driver", driver, Form::version);
  v("cuda", cuda, Form::version);
  v("devices", devices);
}

template <class V>
void fields(V& v, Library& library) {
  auto& [path, real, name, version, from, device, inode, bytes, machine, stub, compat, order] = library;
  v("path", path, Form::path);
  v("real", real, Form::path);
  v("name", name, Form::word);
  v("version", version, Form::long_version);
  v("from", from, Form::word);
  (void)device, (void)inode;  // of this machine's disks; `real` tells copies apart
  v("bytes", bytes);
  v("machine", machine, Form::word);
  v("stub", stub);
  v("compat", compat);
  v("order", order);
}

template <class V>
void fields(V& v, Toolkit& toolkit) {
  auto& [folder, version, compiler] = toolkit;
  v("folder", folder, Form::path);
  v("version", version, Form::version);
  v("compiler", compiler);
}

template <class V>
void fields(V& v, Libraries& libraries) {
  auto& [all, elsewhere, toolkits, cache_folders, search_missing, search_current_folder] = libraries;
  v("all", all);
  v("elsewhere", elsewhere);
  v("toolkits", toolkits);
  v("loader_folders", cache_folders, Form::path);
  v("search_missing", search_missing, Form::path);
  v("search_current_folder", search_current_folder);
}

template <class V>
void fields(V& v, Torch& torch) {
  auto& [folder, version, cuda, hip, from, cuda_library] = torch;
  v("folder", folder, Form::path);
  v("version", version, Form::version);
  v("cuda", cuda, Form::version);
  v("hip", hip, Form::version);
  v("from", from, Form::word);
  v("cuda_library", cuda_library);
}

template <class V>
void fields(V& v, Wheel& wheel) {
  auto& [folder, name, version] = wheel;
  v("folder", folder, Form::path);
  v("name", name, Form::package);
  v("version", version, Form::long_version);
}

template <class V>
void fields(V& v, Frameworks& frameworks) {
  auto& [torch, wheels, conda_and_pip] = frameworks;
  v("torch", torch);
  v("wheels", wheels);
  v("conda_and_pip", conda_and_pip, Form::path);
}

template <class V>
void fields(V& v, Container& container) {
  auto& [kind, driver_mounts, device_rules, shm_bytes, memlock_bytes] = container;
  v("kind", kind, Form::word);
  v("driver_mounts", driver_mounts, Form::path);
  v("device_rules", device_rules, Form::device_rule);
  v("shm_bytes", shm_bytes);
  v("memlock_bytes", memlock_bytes);
}

template <class V>
void fields(V& v, Process& process) {
  auto& [name, id] = process;
  v("name", name, Form::word);
  (void)id;  // of no use on another machine
}

template <class V>
void fields(V& v, Cluster& cluster) {
  auto& [processes, packages, imex_nodes, slurm_gres, vgpu_configuration, clock_synchronised, clock_s] = cluster;
  v("processes", processes);
  v("packages", packages, Form::package);
  v("imex_nodes", imex_nodes, Form::left_out);  // addresses of other machines
  v("slurm_gres", slurm_gres, Form::gres);
  v("vgpu_configuration", vgpu_configuration, Form::presence);
  v("clock_synchronised", clock_synchronised);
  v("clock_s", clock_s);
}

template <class V>
void fields(V& v, LogFinding& finding) {
  auto& [device, kind, code, layer, severity, action, meaning, line] = finding;
  v("device", device, Form::log_device);
  v("kind", kind, Form::rule);
  v("code", code, Form::log_code);
  v("layer", layer, Form::rule);
  v("severity", severity, Form::rule);
  v("action", action, Form::rule);
  v("meaning", meaning, Form::rule);
  v("line", line, Form::log_line);
}

template <class V>
void fields(V& v, ProbeResult& probe) {
  auto& [name, outcome, worker, call, detail, code, simulated] = probe;
  v("name", name, Form::word);
  v("outcome", outcome, Form::word);
  v("worker", worker, Form::word);
  v("call", call, Form::word);
  v("detail", detail, Form::presence);
  v("code", code);
  v("simulated", simulated);
}

template <class V>
void fields(V& v, Facts& facts) {
  auto& [bus, gpus, switches, displays, nics, bridges, hidden, rdma, system, modules, nodes, nvml, libraries,
         frameworks, container, cluster, environment, log, log_is_whole, silent_mounts, probes] = facts;
  v("bus", bus, Form::address);
  v("gpus", gpus);
  v("switches", switches);
  v("displays", displays);
  v("network_cards", nics);
  v("bridges", bridges);
  v("hidden", hidden, Form::address);
  v("rdma", rdma);
  v("system", system);
  v("modules", modules);
  v("nodes", nodes);
  v("nvml", nvml);
  v("libraries", libraries);
  v("frameworks", frameworks);
  v("container", container);
  v("cluster", cluster);
  v("environment", environment, Form::setting);
  v("log", log);
  v("log_is_whole", log_is_whole);
  v("silent_mounts", silent_mounts, Form::path);
  v("probes", probes);
}

}  // namespace assay::doctor
