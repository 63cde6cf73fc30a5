// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See leak.h.
#include "harness/stats/leak.h"

#include <algorithm>
#include <array>

#include "harness/stats/check.h"
#include "harness/stats/trend.h"

namespace assay::stats {
namespace {

constexpr std::size_t windows = 9, fewest_samples = 36;

void check_bytes(std::span<const double> bytes) {
  require_finite(bytes, "the search for a leak");
  for (double b : bytes) require(b >= 0, "the search for a leak", "a footprint is never {}", b);
}

}  // namespace

std::optional<QuietLeak> leak_at_quiet_points(std::span<const double> bytes, double granularity_bytes) {
  check_bytes(bytes);
  require(granularity_bytes >= 0, "the search for a leak", "the allocator's granularity is never below 0");
  if (bytes.size() < 2) return std::nullopt;
  const double most = bytes.front() + granularity_bytes;
  const auto above = std::find_if(bytes.begin(), bytes.end(), [&](double b) { return b > most; });
  QuietLeak result;
  result.growth_bytes = bytes.back() - bytes.front();
  if (above == bytes.end()) return result;
  result.first_above = static_cast<std::size_t>(above - bytes.begin());
  result.found = bytes.back() > most ? Leak::leak : Leak::returned;
  return result;
}

std::optional<WindowLeak> leak_in_windows(std::span<const double> times_s, std::span<const double> bytes,
                                          const LeakOptions& options) {
  const char* what = "the search for a leak";
  require(times_s.size() == bytes.size(), what, "{} times and {} footprints", times_s.size(), bytes.size());
  check_bytes(bytes);
  require_finite(times_s, what);
  require(std::is_sorted(times_s.begin(), times_s.end()), what, "times must ascend");
  if (bytes.size() < fewest_samples) return std::nullopt;
  const std::size_t dropped = bytes.size() / 5, kept = bytes.size() - dropped;
  std::array<double, windows> at{}, least{};
  for (std::size_t w = 0; w < windows; ++w) {
    const std::size_t from = dropped + w * kept / windows, to = dropped + (w + 1) * kept / windows;
    at[w] = (times_s[from] + times_s[to - 1]) / 2;
    least[w] = *std::min_element(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(to));
  }
  const std::span<const double> x(at), y(least);
  constexpr std::size_t half = windows / 2;
  const auto whole = theil_sen(x, y), first = theil_sen(x.first(half + 1), y.first(half + 1)),
             second = theil_sen(x.last(half + 1), y.last(half + 1));
  if (!whole || !first || !second) return std::nullopt;
  WindowLeak result;
  result.bytes_per_second = whole->slope;
  result.growth_bytes = whole->slope * (at.back() - at.front());
  // Rising by what noise can do is no growth: a tenth of an even share is asked for. Without it one late step is a leak
  // one time in five.
  std::size_t rising = 0;
  for (std::size_t w = 1; w < windows; ++w)
    rising += least[w] - least[w - 1] > 0.1 * result.growth_bytes / static_cast<double>(windows - 1);
  const bool grows = result.growth_bytes >= options.least_growth_bytes &&
                     static_cast<double>(rising) >= options.rising_share * static_cast<double>(windows - 1);
  if (grows) result.found = second->slope >= options.slope_ratio * first->slope ? Leak::leak : Leak::slowing;
  return result;
}

}  // namespace assay::stats
