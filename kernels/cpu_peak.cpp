// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The table behind cpu_peak.h. To add a CPU: width and number of its multiply-add pipes, from its maker's optimisation
// guide, and the model numbers as /proc/cpuinfo shows them. When in doubt leave it out: no limit is a right answer.

#include "kernels/cpu_peak.h"

#include <algorithm>
#include <cstdlib>

namespace assay::kernels {
namespace {

// Multiply-add pipes, and what the load ports bring in a cycle.
constexpr CpuPeak zen{16, "2 x 128 bits", 32}, neoverse_n1{16, "2 x 128 bits", 32}, neoverse_n2{16, "2 x 128 bits", 48},
    neoverse_v1{32, "4 x 128 bits", 64}, neoverse_v2{32, "4 x 128 bits", 48}, two_256{32, "2 x 256 bits", 64},
    two_512{64, "2 x 512 bits", 128};

// Haswell, Broadwell, Skylake to Comet Lake, and the large cores of Alder Lake and Raptor Lake.
constexpr int intel_two_256[] = {60, 63, 69, 70, 61, 71, 79, 86, 78, 94, 142, 158, 165, 166, 151, 154, 183, 186, 191};
// Servers: Skylake to Cooper Lake, Ice Lake, Sapphire Rapids, Emerald Rapids, Granite Rapids.
constexpr int intel_two_512[] = {85, 106, 108, 143, 207, 173, 174};

const CpuPeak* intel(int family, int model) {
  if (family != 6) return nullptr;
  for (const int known : intel_two_256) {
    if (model == known) return &two_256;
  }
  for (const int known : intel_two_512) {
    if (model == known) return &two_512;
  }
  return nullptr;
}

const CpuPeak* amd(int family, int model) {
  if (family == 0x17) return model < 0x30 ? &zen : &two_256;  // Zen, Zen 2
  if (family == 0x19) return &two_256;                        // Zen 3; Zen 4 takes two cycles for 512 bits
  if (family == 0x1a) return &two_512;                        // Zen 5
  return nullptr;
}

const CpuPeak* arm(int part) {
  switch (part) {
    case 0xd0c:
      return &neoverse_n1;
    case 0xd49:
      return &neoverse_n2;
    case 0xd40:  // 2 x 256 bits with SVE
      return &neoverse_v1;
    case 0xd4f:
      return &neoverse_v2;
    default:
      return nullptr;
  }
}

}  // namespace

const CpuPeak* cpu_peak(std::string_view vendor, int family, int model) {
  if (vendor == "GenuineIntel") return intel(family, model);
  if (vendor == "AuthenticAMD") return amd(family, model);
  if (vendor == "0x41") return arm(model);
  return nullptr;
}

const CpuPeak* cpu_peak(const std::map<std::string, double>& numbers, const std::map<std::string, std::string>& words) {
  const auto word = [&](const char* name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0 : static_cast<int>(found->second);
  };
  const std::string arm_part = word("CPU part");
  if (arm_part.empty()) return cpu_peak(word("vendor_id"), number("cpu_family"), number("cpu_model"));
  return cpu_peak(word("CPU implementer"), 0, static_cast<int>(std::strtol(arm_part.c_str(), nullptr, 16)));
}

TeamPeak team_peak(const std::map<std::string, double>& numbers, const std::map<std::string, std::string>& words,
                   int threads) {
  const CpuPeak* peak = cpu_peak(numbers, words);
  if (peak == nullptr)
    return {0, 0, "the pipes of this CPU model are not in the table",
            "the load ports of this CPU model are not in the table"};
  const auto known_cores = numbers.find("cores");
  const double cores = known_cores == numbers.end() ? threads : std::min<double>(threads, known_cores->second);
  return {cores * peak->f32_flop_per_cycle, cores * peak->l1_load_bytes_per_cycle,
          std::string(peak->pipes) + " a core by the CPU's model",
          std::to_string(peak->l1_load_bytes_per_cycle) + " B a cycle and core by the CPU's model"};
}

}  // namespace assay::kernels
