// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cgroup.h. A machine may have both versions at once: a controller that version 1 has is not in version 2, even
// where that is mounted.
#include "harness/base/cgroup.h"

#include <algorithm>
#include <string_view>

#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/proc.h"
#include "harness/base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;  // version 1 says 2^63 rounded down to a page

bool lists(const std::string& text, const std::string& word) {
  const std::vector<std::string> words = split(text, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A mounted hierarchy: `top` is the group that is seen at `folder`.
struct Mount {
  std::string top, folder;
};

// Of version 1 with `controller`, or of version 2 for "".
std::optional<Mount> find_mount(const std::string& mountinfo, const std::string& controller) {
  for (const std::string& line : split(mountinfo, '\n')) {
    // 35 31 0:32 TOP FOLDER rw,relatime [more] - cgroup cgroup rw,memory
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> left = split(line.substr(0, dash), ' '), right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    if (controller.empty() ? right[0] == "cgroup2" : right[0] == "cgroup" && lists(right[2], controller))
      return Mount{left[3], left[4]};
  }
  return std::nullopt;
}

// `path` below the mount, which may show a part of the tree only.
std::string below(const Mount& mount, const std::string& path) {
  if (path.find("..") != std::string::npos) return "";  // outside of what is visible
  if (mount.top == "/") return path == "/" ? "" : path;
  const bool inside =
      starts_with(path, mount.top) && (path.size() == mount.top.size() || path[mount.top.size()] == '/');
  return inside ? path.substr(mount.top.size()) : "";
}

}  // namespace

Cgroup::Cgroup(const std::string& process, const fs::path& root)
    : root_(root), memory_(find("memory", process)), cpu_(find("cpu", process)), cpuset_(find("cpuset", process)) {
  // Chosen once: counters of two files must never be compared.
  const char* counter = memory_.unified ? "memory.events" : "memory.oom_control";
  if (!memory_.folders.empty()) oom_file_ = memory_.folders.front() / counter;
  if (!number_of(read_file_or(oom_file_), "oom_kill")) oom_file_ = root_ / "proc/vmstat";
}

Cgroup::Controller Cgroup::find(const std::string& name, const std::string& process) const {
  Controller found;
  std::optional<std::string> path;
  for (const std::string& line : split(read_file_or(root_ / "proc" / process / "cgroup"), '\n')) {
    // 4:memory:/a/b, or 0::/a/b for version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !lists(controllers, name)) continue;
    if (path && controllers.empty()) continue;
    path = line.substr(second + 1);
    found.unified = controllers.empty();
  }
  if (!path) return found;
  const std::optional<Mount> mount = find_mount(read_file_or(root_ / "proc/self/mountinfo"), found.unified ? "" : name);
  if (!mount) return found;
  const fs::path top = root_ / fs::path(mount->folder).relative_path();
  for (std::string group = below(*mount, *path);; group = group.substr(0, group.rfind('/'))) {
    found.folders.push_back(top / fs::path(group).relative_path());
    if (group.empty()) return found;
  }
}

std::optional<std::uint64_t> Cgroup::limit_of(const fs::path& group) const {
  std::optional<std::uint64_t> limit;
  // From memory.high on, the kernel slows the group down to reclaim.
  for (const char* file : {"memory.max", "memory.high", "memory.limit_in_bytes"}) {
    if ((file == std::string("memory.limit_in_bytes")) == memory_.unified) continue;
    const std::optional<std::uint64_t> bytes = leading_number<std::uint64_t>(first_line(group / file));
    if (bytes && *bytes < no_limit) limit = std::min(limit.value_or(no_limit), *bytes);
  }
  return limit;
}

std::optional<std::uint64_t> Cgroup::memory_limit() const {
  std::optional<std::uint64_t> least;
  for (const fs::path& group : memory_.folders)
    if (const auto limit = limit_of(group)) least = std::min(least.value_or(no_limit), *limit);
  return least;
}

std::optional<std::uint64_t> Cgroup::memory_available() const {
  std::optional<std::uint64_t> least;
  for (const fs::path& group : memory_.folders) {
    const std::optional<std::uint64_t> limit = limit_of(group);
    if (!limit) continue;
    const char* usage = memory_.unified ? "memory.current" : "memory.usage_in_bytes";
    const std::uint64_t used = leading_number<std::uint64_t>(first_line(group / usage)).value_or(0);
    const std::uint64_t idle =
        number_of(read_file_or(group / "memory.stat"), memory_.unified ? "inactive_file" : "total_inactive_file")
            .value_or(0);
    const std::uint64_t needed = used - std::min(used, idle);
    least = std::min(least.value_or(no_limit), *limit - std::min(*limit, needed));
  }
  return least;
}

std::optional<double> Cgroup::cpu_quota() const {
  std::optional<double> least;
  for (const fs::path& group : cpu_.folders) {
    // "50000 100000": of each 100 ms 50; "max" or -1 is no limit.
    const std::string both =
        cpu_.unified ? first_line(group / "cpu.max")
                     : first_line(group / "cpu.cfs_quota_us") + " " + first_line(group / "cpu.cfs_period_us");
    std::string_view rest;
    const std::optional<double> quota = leading_number<double>(both, &rest), period = leading_number<double>(rest);
    if (quota && period && *quota > 0 && *period > 0)
      least = std::min(least.value_or(*quota / *period), *quota / *period);
  }
  return least;
}

CpuThrottling Cgroup::cpu_throttled() const {
  CpuThrottling sum;
  for (const fs::path& group : cpu_.folders) {
    const std::string text = read_file_or(group / "cpu.stat");
    sum.times += number_of(text, "nr_throttled").value_or(0);
    sum.seconds += static_cast<double>(number_of(text, "throttled_usec").value_or(0)) * 1e-6 +
                   static_cast<double>(number_of(text, "throttled_time").value_or(0)) * 1e-9;
  }
  return sum;
}

std::string Cgroup::cpuset() const {
  for (const fs::path& group : cpuset_.folders)
    for (const char* file : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"})
      if (std::string text = first_line(group / file); !text.empty()) return text;
  return {};
}

std::uint64_t Cgroup::oom_kills() const { return number_of(read_file_or(oom_file_), "oom_kill").value_or(0); }

}  // namespace assay
