// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See arm_cpu.h. The cores of servers, and of the boards that people build clusters of; numbers as in the technical
// reference manuals and in util-linux (lscpu).
#include "harness/device/arm_cpu.h"

#include "harness/base/proc.h"
#include "harness/base/text.h"

namespace assay {
namespace {

struct Core {
  const char *implementer, *part, *name;
};
constexpr Core cores[] = {
    {"0x41", "0xd03", "Arm Cortex-A53"},   {"0x41", "0xd04", "Arm Cortex-A35"},
    {"0x41", "0xd05", "Arm Cortex-A55"},   {"0x41", "0xd07", "Arm Cortex-A57"},
    {"0x41", "0xd08", "Arm Cortex-A72"},   {"0x41", "0xd09", "Arm Cortex-A73"},
    {"0x41", "0xd0a", "Arm Cortex-A75"},   {"0x41", "0xd0b", "Arm Cortex-A76"},
    {"0x41", "0xd0c", "Arm Neoverse-N1"},  {"0x41", "0xd0d", "Arm Cortex-A77"},
    {"0x41", "0xd40", "Arm Neoverse-V1"},  {"0x41", "0xd41", "Arm Cortex-A78"},
    {"0x41", "0xd42", "Arm Cortex-A78AE"}, {"0x41", "0xd44", "Arm Cortex-X1"},
    {"0x41", "0xd49", "Arm Neoverse-N2"},  {"0x41", "0xd4a", "Arm Neoverse-E1"},
    {"0x41", "0xd4f", "Arm Neoverse-V2"},  {"0x41", "0xd83", "Arm Neoverse-V3AE"},
    {"0x41", "0xd84", "Arm Neoverse-V3"},  {"0x41", "0xd8e", "Arm Neoverse-N3"},
    {"0x43", "0x0af", "Cavium ThunderX2"}, {"0x46", "0x001", "Fujitsu A64FX"},
    {"0x48", "0xd01", "HiSilicon TSV110"}, {"0x4e", "0x004", "NVIDIA Carmel"},
    {"0xc0", "0xac3", "Ampere-1"},         {"0xc0", "0xac4", "Ampere-1a"},
};

// JEP106 bank and identity of the maker of the chip, as SMCCC tells them.
constexpr const char *nvidia_soc = "jep106:036b", *ampere_soc = "jep106:0a16";

}  // namespace

std::string arm_core_name(const std::string& implementer, const std::string& part) {
  for (const Core& core : cores)
    if (implementer == core.implementer && part == core.part) return core.name;
  return "ARM core " + implementer + ":" + part;
}

std::string arm_product_name(const std::string& part, const std::filesystem::path& root) {
  const std::string soc = first_line(root / "sys/bus/soc/devices/soc0/soc_id");
  if (starts_with(soc, nvidia_soc) && part == "0xd4f") return "NVIDIA Grace";
  if (starts_with(soc, ampere_soc) && part == "0xd0c") return "Ampere Altra";
  if (first_line(root / "sys/class/dmi/id/sys_vendor") != "Amazon EC2") return {};
  return part == "0xd0c" ? "AWS Graviton2" : part == "0xd40" ? "AWS Graviton3" : part == "0xd4f" ? "AWS Graviton4" : "";
}

}  // namespace assay
