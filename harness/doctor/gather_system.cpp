// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The kernel, the distribution and what kind of machine it is.
#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/elf.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

std::optional<bool> is_set(const std::string& text) { return !text.empty() && text != "0" && text != "N"; }

// "[none] integrity confidentiality"
std::optional<std::string> chosen(const std::string& text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

Fact<std::string> of_release(const Fact<std::string>& release, const std::string& key) {
  Fact<std::string> found = Fact<std::string>::not_known(release ? Known::absent : release.state, release.source);
  for (const std::string& row : split(*release, '\n')) {
    if (!starts_with(row, key + "=")) continue;
    std::string value = row.substr(key.size() + 1);
    value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
    found = Fact<std::string>::of(value, release.source);
  }
  return found;
}

// Of the firmware's variable: four bytes of attributes, then 1 or 0. Firmware without EFI has none; with EFI, its
// variables may not be shown here, as in a container.
Fact<bool> secure_boot(const Root& root) {
  Fact<bool> fact =
      root.text("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c")
          .as([](const std::string& bytes) { return bytes.size() == 5 ? std::optional(bytes[4] == 1) : std::nullopt; });
  if (fact.state != Known::absent) return fact;
  const Fact<std::vector<std::string>> efi = root.list("/sys/firmware/efi"),
                                       shown = root.list("/sys/firmware/efi/efivars");
  if (efi.unknown() || shown.unknown()) fact.state = efi.unknown() ? efi.state : shown.state;
  if (efi && (!shown || shown->empty())) fact.state = Known::unreadable;
  return fact;
}

// One group that translates is enough, and one that nobody can read leaves the others without meaning.
Fact<std::string> iommu_type(const Root& root, const std::vector<PciDevice>& gpus) {
  Fact<std::string> worst;
  worst.source = "/sys/bus/pci/devices/*/iommu_group";
  for (const PciDevice& gpu : gpus) {
    const Fact<std::string>& group = gpu.iommu_group;
    if (group.state == Known::absent) continue;
    Fact<std::string> type = Fact<std::string>::not_known(group.state, group.source);
    if (group) type = root.line("/sys/kernel/iommu_groups/" + *group + "/type");
    // An older kernel has groups, and does not say of which type.
    if (!type) return Fact<std::string>::not_known(type.unknown() ? type.state : Known::unreadable, type.source);
    if (!worst || starts_with(*worst, "identity")) worst = type;
  }
  return worst;
}

std::string cloud_of(const Root& root, const System& system) {
  const std::string vendor = *system.vendor, product = *system.product;
  if (starts_with(vendor, "Amazon")) return "aws";
  if (starts_with(vendor, "Google")) return "gcp";
  if (starts_with(vendor, "Alibaba")) return "alibaba";
  if (vendor == "Microsoft Corporation" && product == "Virtual Machine") return "azure";
  if (starts_with(root.line("/sys/class/dmi/id/chassis_asset_tag").value, "OracleCloud")) return "oci";
  return "";
}

}  // namespace

void gather_system(const Root& root, Facts& facts) {
  System& system = facts.system;
  system.kernel = root.line("/proc/sys/kernel/osrelease");
  system.command_line = root.line("/proc/cmdline");
  system.lockdown = root.line("/sys/kernel/security/lockdown").as(chosen);
  system.aspm_policy = root.line("/sys/module/pcie_aspm/parameters/policy").as(chosen);
  system.secure_boot = secure_boot(root);
  system.signatures_enforced = root.line("/sys/module/module/parameters/sig_enforce").as(is_set);
  const Fact<std::string> release =
      root.text(root.exists("/etc/os-release") ? "/etc/os-release" : "/usr/lib/os-release");
  system.distribution = of_release(release, "ID");
  system.distribution_version = of_release(release, "VERSION_ID");
  system.distribution_like = of_release(release, "ID_LIKE");
  for (const char* program : {"/usr/bin/env", "/bin/sh", "/usr/bin/ls", "/proc/self/exe"})
    if (!system.architecture) system.architecture = elf_machine(root, program);
  system.modules_disabled = root.line("/proc/sys/kernel/modules_disabled").as(is_set);
  system.selinux_enforcing = root.line("/sys/fs/selinux/enforce").as(is_set);
  system.numa_balancing = root.line("/proc/sys/kernel/numa_balancing").as(is_set);
  system.numa_nodes = root.list("/sys/devices/system/node").as([](const std::vector<std::string>& names) {
    return std::optional(static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return starts_with(name, "node") && name.size() > 4 && name[4] >= '0' && name[4] <= '9';
    })));
  });
  system.iommu_type = iommu_type(root, facts.gpus);
  system.vendor = root.line("/sys/class/dmi/id/sys_vendor");
  system.product = root.line("/sys/class/dmi/id/product_name");
  system.cloud = cloud_of(root, system);
  system.wsl = system.kernel->find("icrosoft") != std::string::npos;
  system.virtual_machine = system.wsl || !system.cloud.empty() || system.vendor->find("QEMU") != std::string::npos ||
                           system.vendor->find("VMware") != std::string::npos ||
                           system.product->find("irtual") != std::string::npos ||
                           system.product->find("KVM") != std::string::npos;
}

}  // namespace assay::doctor
