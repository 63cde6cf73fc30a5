// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory that doesn't come back. Bytes as double; times in seconds.
// A least-squares slope or a trend test calls every warm-up ramp, growing cache and garbage-collected pool a leak; the
// rules here look at points where nothing should be held, or at least at the lowest points.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::stats {

enum class Leak {
  none,
  returned,  // exact only: was above the reference and came back
  slowing,   // windows only: grows, but ever less: a cache that fills, or a ramp; a warning
  leak,
};

struct QuietLeak {
  Leak found = Leak::none;
  double growth_bytes = 0;      // last minus first
  std::size_t first_above = 0;  // point at which the reference was first exceeded; meaningless with none
};
// For our own load: footprints at quiet points (all freed, device synchronised), the first after warm-up being the
// reference. All must return to it, give or take the allocator's granularity: no statistics. nullopt: fewer than 2
// points. Values that aren't finite or are negative are Errors.
std::optional<QuietLeak> leak_at_quiet_points(std::span<const double> bytes, double granularity_bytes = 0);

struct LeakOptions {
  double least_growth_bytes = 32.0 * 1024 * 1024;
  double rising_share = 0.75;  // of the steps between windows, each by a tenth of an even share
  double slope_ratio = 0.6;    // slope of the second half over that of the first; below: slowing
};
struct WindowLeak {
  Leak found = Leak::none;
  double growth_bytes = 0;      // Theil-Sen slope of the minima times the time from first to last window
  double bytes_per_second = 0;  // that slope
};
// For a load of others: the first 20 % dropped, 9 windows of equal count, the minimum of each (the windows must be
// longer than the period of the garbage collector). Leak: growth of at least least_growth_bytes, most steps rising, and
// not slowing. times ascend, as many as bytes. nullopt: fewer than 36 samples, or no time passes.
std::optional<WindowLeak> leak_in_windows(std::span<const double> times_s, std::span<const double> bytes,
                                          const LeakOptions& options = {});

}  // namespace assay::stats
