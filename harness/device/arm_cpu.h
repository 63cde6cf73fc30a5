// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Names of ARM CPUs. The kernel tells no model name on ARM, only who designed the core and which of his cores it is
// (the MIDR register, "CPU implementer" and "CPU part" of /proc/cpuinfo); the product around it is told by the
// firmware.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// "Arm Neoverse-V2" for 0x41 and 0xd4f; "ARM core 0x41:0xfff" for one that isn't in the table.
std::string arm_core_name(const std::string& implementer, const std::string& part);
// "NVIDIA Grace", "Ampere Altra", "AWS Graviton3"; "" where the firmware below `root` doesn't tell it.
std::string arm_product_name(const std::string& part, const std::filesystem::path& root);

}  // namespace assay
