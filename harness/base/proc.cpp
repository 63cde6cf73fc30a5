// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See proc.h.
#include "harness/base/proc.h"

#include <algorithm>
#include <array>

#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"

namespace assay {

std::string first_line(const std::filesystem::path& path) {
  const std::string content = read_file_or(path);
  return trim(content.substr(0, content.find('\n')));
}

std::optional<double> number_in(const std::filesystem::path& path) { return leading_number<double>(first_line(path)); }

std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!starts_with(line, key)) continue;
    const std::string_view behind = line.substr(key.size());
    const std::size_t digits = behind.find_first_not_of(" \t:");
    if (digits == 0 || digits == std::string_view::npos) continue;  // a longer key, or no value
    return leading_number<std::uint64_t>(behind.substr(digits));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> meminfo_bytes(std::string_view key, const std::filesystem::path& root) {
  const std::optional<std::uint64_t> kib = number_of(read_file_or(root / "proc/meminfo"), key);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

CpuTicks cpu_ticks(const std::vector<int>& cpus, const std::filesystem::path& root) {
  CpuTicks all, ours;
  bool listed = false;
  for (const std::string& text : split(read_file_or(root / "proc/stat"), '\n')) {
    if (!starts_with(text, "cpu")) continue;
    // cpuN user nice system idle iowait irq softirq steal guest guest_nice; user contains guest
    std::string_view rest = std::string_view(text).substr(3);
    const bool whole = starts_with(rest, " ");
    const int cpu = whole ? -1 : leading_number<int>(rest, &rest).value_or(-1);
    std::array<std::uint64_t, 8> ticks{};
    for (std::uint64_t& value : ticks) value = leading_number<std::uint64_t>(rest, &rest).value_or(0);
    if (!whole && std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    listed = listed || !whole;
    CpuTicks& sum = whole ? all : ours;
    sum.busy += ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
    sum.idle += ticks[3] + ticks[4];
    sum.steal += ticks[7];
  }
  return listed ? ours : all;
}

std::vector<int> cpu_list(std::string_view text) {
  constexpr int most = 1 << 20;  // whatever a damaged file says
  std::vector<int> cpus;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    const std::optional<int> first = only_number<int>(trim(ends.front())), last = only_number<int>(trim(ends.back()));
    if (!first || !last || ends.size() > 2 || *first < 0 || *last > most) break;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace assay
