// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One series of one case in one session: did the machine hold what it began with? Plain numbers in, plain data out.
// How to read it: `look` first. Only `examined` without a change says that the rate held, from the end of the reference
// on, within the 1 % that is the smallest drop looked for; every other word says that nobody can tell.
// Traps: the load must be stationary, or its phases look like faults (stats/change.h). What was slow from the first
// sample on is the reference here: compare and accept see that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/manifest.h"
#include "harness/stats/robust.h"

namespace assay {

// The vectors beside `values` are empty where nothing is known, or have an entry a value; NaN: not known for that one.
struct TimedSeries {
  Better better = Better::higher;
  std::vector<double> values;             // in the order in which they were taken
  std::vector<double> at_s;               // when each began, in seconds since the first
  std::vector<double> clock_hz, celsius;  // beside each
  std::vector<std::uint32_t> flags;       // what disturbed each (record.h)
};

enum class Look {
  examined,
  too_short,  // fewer than shortest_series samples, or level only near its end
  unsteady,   // never level for ten blocks, or it fell for good before the watch began: what did it begin with?
  unusable,   // a value that is not above 0
};

// Blocks of 2: 10 that are level, 12 as reference, and as many again in which something can be seen.
inline constexpr std::size_t shortest_series = 68;

struct Change {
  std::size_t first = 0, last = 0;  // samples: the first of the slow part, and one beyond its last
  std::size_t seen = 0;             // how many samples it took until it was sure
  bool sudden = false, lasting = false;
  double change = 0;                        // of the rate, relative to the reference: -0.03
  std::optional<stats::Interval> interval;  // of that, 95 %
  std::optional<double> clock_change;       // of the clock beside the slow samples, relative
  std::optional<double> celsius_change;     // the same for the temperature, in kelvin
  double throttled = 0;                     // share of the slow samples that the device flagged as throttled
  double disturbed = 0;                     // share of them in which something else used the machine
  std::uint32_t disturbances = 0;           // by what
  // The clock or the device itself explains it; where no clock was read, a temperature that rose by 5 K does.
  bool throttle() const;
};

struct SeriesLook {
  Look look = Look::too_short;
  std::size_t samples = 0, per_block = 1, blocks = 0;  // blocks: behind the reference
  double watched = 0;                                  // share of the samples that lie behind the reference
  std::optional<Change> change;
};
// The two detectors of stats::watch() on blocks of at most 10 s, at least 60 blocks where there are enough samples, 2
// samples at least. An alarm must stand when the spread is widened to that of all blocks without the change, and for
// neighbours that resemble each other. False alarms: below 1 % for noise of up to 0.5 % with a lag-1 correlation of up
// to 0.8, 120 samples or 24 hours; 5 % for the worst, 120 samples with a correlation of 0.95.
SeriesLook look_at(const TimedSeries& series);

// Flags that name something other than the device: it may be as fast as ever.
std::uint32_t foreign_disturbances();
// "steal, frequency" for a mask of disturbances; "" for 0.
std::string disturbed_text(std::uint32_t mask, std::string_view separator = ", ");

}  // namespace assay
