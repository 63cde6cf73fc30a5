// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs a case runs on, and what those CPUs share. Everything comes from sysfs (`sysfs` stands for
// /sys/devices/system/cpu, so that tests bring machines of their own) and is 0 or empty where sysfs doesn't tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

inline const std::filesystem::path sysfs_cpus = "/sys/devices/system/cpu";

// CPUs for a team of `threads` out of `allowed`, in thread order. A team of one gets the last of the fastest CPUs: the
// fastest, because a little core of a mixed machine is not what is asked for, and the last, because the first CPU
// serves most interrupts. A larger team gets the first ones.
std::vector<int> choose_cpus(int threads, const std::vector<int>& allowed,
                             const std::filesystem::path& sysfs = sysfs_cpus);

// Thread i of the OpenMP team on cpus[i]. Error when the system gives a smaller team or refuses a CPU. Done anew for
// each case: OpenMP makes new threads when a team grows, and those inherit the main thread's narrow mask.
void pin_team(const std::vector<int>& cpus);

// Where the threads of the team really are, ascending, each CPU once.
std::vector<int> cpus_in_use(int threads);

// For each of `cpus` whether it is the first one there of its core; true where sysfs doesn't tell.
std::vector<bool> first_of_core(const std::vector<int>& cpus, const std::filesystem::path& sysfs = sysfs_cpus);

// Bytes of all data caches of `level` (1 to 4) that `cpus` reach together: each cache once, however many share it.
std::uint64_t cache_bytes(int level, const std::vector<int>& cpus, const std::filesystem::path& sysfs = sysfs_cpus);

// The same of the last level that there is.
std::uint64_t last_cache_bytes(const std::vector<int>& cpus, const std::filesystem::path& sysfs = sysfs_cpus);

}  // namespace assay
