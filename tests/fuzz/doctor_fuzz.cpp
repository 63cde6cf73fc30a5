// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A machine as a folder: the first byte of each part says which file, the rest is its content. All facts are gathered,
// every check answers, and both reports are made.
#include "harness/doctor/elf.h"
#include "harness/doctor/report.h"
#include "tests/fuzz/fuzz.h"

namespace {

using assay::doctor::Root;

// Of each kind of reader one or two; the link and the folders that they need are in every machine.
constexpr const char* files[] = {"sys/devices/gpu/vendor",
                                 "sys/devices/gpu/device",
                                 "sys/devices/gpu/class",
                                 "sys/devices/gpu/config",
                                 "sys/devices/gpu/resource",
                                 "sys/devices/gpu/current_link_speed",
                                 "sys/devices/gpu/max_link_speed",
                                 "sys/devices/gpu/aer_dev_fatal",
                                 "sys/devices/gpu/numa_node",
                                 "proc/cmdline",
                                 "proc/modules",
                                 "proc/version",
                                 "proc/driver/nvidia/version",
                                 "proc/self/mountinfo",
                                 "proc/self/cgroup",
                                 "etc/os-release",
                                 "etc/ld.so.cache",
                                 "usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                 "lib/modules/6.1.0/updates/dkms/nvidia.ko",
                                 "lib/modules/6.1.0/modules.dep",
                                 "usr/local/cuda/version.json",
                                 "usr/lib/python3/dist-packages/torch/version.py",
                                 ".assay/nvml.json",
                                 ".assay/clock.json",
                                 ".assay/nodes",
                                 ".assay/states",
                                 "var/lib/dpkg/status",
                                 "var/log/kern.log",
                                 "etc/slurm/gres.conf"};

}  // namespace

ASSAY_FUZZ(input) {
  namespace doctor = assay::doctor;
  static const doctor::Knowledge knowledge(ASSAY_SOURCE_DIR "/results");
  static const std::vector<doctor::Check> checks = doctor::all_checks(knowledge);
  const std::filesystem::path root = assay::fuzz::folder() / "machine";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "sys/bus/pci/devices");
  std::filesystem::create_directory_symlink("../../../devices/gpu", root / "sys/bus/pci/devices/0000:01:00.0");
  for (const std::string& part : assay::fuzz::parts_of(input)) {
    if (part.empty()) continue;
    const std::size_t which = static_cast<unsigned char>(part[0]) % std::size(files);
    assay::fuzz::write(std::string("machine/") + files[which], std::string_view(part).substr(1));
  }
  const doctor::Root machine(root, doctor::Fact<doctor::Environment>::of({}, "fuzz"));
  doctor::elf_machine(machine, "/lib/modules/6.1.0/updates/dkms/nvidia.ko");
  doctor::module_info(machine, "/lib/modules/6.1.0/updates/dkms/nvidia.ko");
  doctor::GatherOptions options;
  options.nvml_library = "";
  options.rules = ASSAY_SOURCE_DIR "/results/explain";
  const doctor::Facts facts = doctor::gather(machine, options);
  const doctor::Case one{facts, knowledge};
  const std::vector<doctor::Answer> answers = judge(checks, one);
  const doctor::Report report{facts, knowledge, answers, verdict_of(answers, facts)};
  doctor::to_console(report);
  assay::line(doctor::to_json(report));
}
