// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The control groups that hold a process, in version 2 and version 1: what memory and CPU time it may use at most, and
// how often it was held back. A limit of any group from its own up to the highest that is visible here binds. Where a
// container hides its own path, the group that it sees as the top is its own.
// The folders are looked up once, by the constructor; every question reads the files again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// Since the groups were made: how often they had used up their share of CPU time, and for how long they then waited.
struct CpuThrottling {
  std::uint64_t times = 0;
  double seconds = 0;
};

class Cgroup {
 public:
  // `process`: a number as in /proc. `root` stands for "/".
  explicit Cgroup(const std::string& process = "self", const std::filesystem::path& root = "/");

  // Bytes; nullopt: no limit. What is available counts file pages that nobody used lately as free, as MemAvailable
  // does.
  std::optional<std::uint64_t> memory_limit() const;
  std::optional<std::uint64_t> memory_available() const;
  // In CPUs: 1.5 are three halves of a second each second; nullopt: no limit.
  std::optional<double> cpu_quota() const;
  CpuThrottling cpu_throttled() const;
  // "0-3,8"; "" where it isn't said.
  std::string cpuset() const;
  // Kills for want of memory, in its own group, or in the whole machine where the group doesn't count them; 0 when the
  // group is gone.
  std::uint64_t oom_kills() const;

 private:
  struct Controller {
    bool unified = true;                         // version 2
    std::vector<std::filesystem::path> folders;  // its own group first
  };
  Controller find(const std::string& name, const std::string& process) const;
  std::optional<std::uint64_t> limit_of(const std::filesystem::path& group) const;

  std::filesystem::path root_;
  Controller memory_, cpu_, cpuset_;
  std::filesystem::path oom_file_;
};

}  // namespace assay
