// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reading /proc and /sys, whose form the kernel decides: what isn't there, or has another form, is nullopt or "", never
// an error. `root` stands for "/", so that tests can show the files of another machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Without blanks around it.
std::string first_line(const std::filesystem::path& path);
// The number that the file begins with.
std::optional<double> number_in(const std::filesystem::path& path);
// Of the line that begins with `key`, then blanks or a colon: "inactive_file 4096" -> 4096.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key);
// number_of /proc/meminfo, in bytes.
std::optional<std::uint64_t> meminfo_bytes(std::string_view key, const std::filesystem::path& root = "/");
// What /proc/stat counts since the start of the machine, in ticks, summed over `cpus`; over all of the machine where it
// doesn't list them (some containers).
struct CpuTicks {
  std::uint64_t busy = 0, idle = 0, steal = 0;
};
CpuTicks cpu_ticks(const std::vector<int>& cpus, const std::filesystem::path& root = "/");
// "0-3,8" -> 0 1 2 3 8; up to the first part that has another form.
std::vector<int> cpu_list(std::string_view text);

}  // namespace assay
