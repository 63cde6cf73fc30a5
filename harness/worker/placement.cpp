// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See placement.h.
#include "harness/worker/placement.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(int cpu, const fs::path& sysfs) { return sysfs / ("cpu" + std::to_string(cpu)); }

std::uint64_t number_in(const fs::path& file) { return std::strtoull(read_file_or(file).c_str(), nullptr, 10); }

// "48K", "260M" -> bytes
std::uint64_t sized(const std::string& text) {
  char* unit = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &unit, 10);
  return *unit == 'K' ? value << 10 : *unit == 'M' ? value << 20 : *unit == 'G' ? value << 30 : value;
}

// ARM tells the capacity of each CPU of a mixed machine; elsewhere the highest clock is the next best.
std::uint64_t speed_of(int cpu, const fs::path& sysfs) {
  const std::uint64_t capacity = number_in(folder_of(cpu, sysfs) / "cpu_capacity");
  return capacity > 0 ? capacity : number_in(folder_of(cpu, sysfs) / "cpufreq/cpuinfo_max_freq");
}

}  // namespace

std::vector<int> choose_cpus(int threads, const std::vector<int>& allowed, const fs::path& sysfs) {
  const auto count = std::min(allowed.size(), static_cast<std::size_t>(std::max(threads, 1)));
  if (count > 1) return {allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(count)};
  int best = allowed.front();
  std::uint64_t speed = 0;
  for (const int cpu : allowed)
    if (const std::uint64_t this_speed = speed_of(cpu, sysfs); this_speed >= speed) best = cpu, speed = this_speed;
  return {best};
}

void pin_team(const std::vector<int>& cpus) {
  std::atomic<int> size{0}, refused{0};
#pragma omp parallel num_threads(static_cast <int>(cpus.size()))
  {
    size = omp_get_num_threads();
    const int cpu = cpus[static_cast<std::size_t>(omp_get_thread_num())];
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(cpu) + 1);
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpu) + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
    if (sched_setaffinity(0, bytes, set) != 0) refused = errno;
    CPU_FREE(set);
  }
  if (refused != 0) throw Error(fmt::format("cannot pin threads to CPUs: {}", std::strerror(refused)));
  if (size != static_cast<int>(cpus.size()))
    throw Error(
        fmt::format("OpenMP gives {} of {} threads; unset OMP_THREAD_LIMIT and OMP_DYNAMIC", size.load(), cpus.size()));
}

std::vector<int> cpus_in_use(int threads) {
  std::vector<int> used(static_cast<std::size_t>(threads), -1);
#pragma omp parallel num_threads(threads)
  used[static_cast<std::size_t>(omp_get_thread_num())] = sched_getcpu();
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

std::vector<bool> first_of_core(const std::vector<int>& cpus, const fs::path& sysfs) {
  std::vector<bool> first;
  std::set<std::string> seen;
  for (const int cpu : cpus) {
    const std::string siblings = trim(read_file_or(folder_of(cpu, sysfs) / "topology/thread_siblings_list"));
    first.push_back(siblings.empty() || seen.insert(siblings).second);
  }
  return first;
}

std::uint64_t cache_bytes(int level, const std::vector<int>& cpus, const fs::path& sysfs) {
  std::map<std::string, std::uint64_t> caches;  // by the CPUs that share it
  for (const int cpu : cpus)
    for (int index = 0; index < 8; ++index) {
      const fs::path cache = folder_of(cpu, sysfs) / "cache" / ("index" + std::to_string(index));
      if (number_in(cache / "level") != static_cast<std::uint64_t>(level)) continue;
      if (trim(read_file_or(cache / "type")) == "Instruction") continue;
      const std::string shared = trim(read_file_or(cache / "shared_cpu_list"));
      caches[shared.empty() ? std::to_string(cpu) : shared] = sized(read_file_or(cache / "size"));
    }
  std::uint64_t sum = 0;
  for (const auto& [shared, bytes] : caches) sum += bytes;
  return sum;
}

std::uint64_t last_cache_bytes(const std::vector<int>& cpus, const fs::path& sysfs) {
  for (int level = 4; level > 0; --level)
    if (const std::uint64_t bytes = cache_bytes(level, cpus, sysfs); bytes > 0) return bytes;
  return 0;
}

}  // namespace assay
