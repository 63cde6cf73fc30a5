// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Numbers with units as people write them in contracts and tables ("3.9 TB/s", "2.7 us", "3 %") become SI base units.
// A number without a unit is no quantity here: a limit of "48" has been GB/s in one file and MB/s in the next.
#pragma once

#include <optional>
#include <string>

#include "harness/manifest.h"

namespace assay {

struct Quantity {
  double value = 0;  // in `unit`
  std::string unit;  // "B/s", "s", "op/s", "W", "%": SI base units, without a prefix
};

// "GB/s" -> {1e9, "B/s"}. Floating-point operations count as "op/s", as our metrics do; "TFLOPS" is known. nullopt for
// what isn't a unit.
std::optional<Quantity> unit_of(const std::string& unit);
// "B/s, op/s, s, ..." and which prefixes they take: for a message about what isn't a unit.
std::string known_units();
// "3.9 TB/s" or "3.9TB/s"; the whole text must be used up. nullopt for what is no number with a unit.
std::optional<Quantity> parse_quantity(const std::string& text);
// Rates are better higher, times lower; nullopt for a base unit that doesn't tell (W, %, or one that isn't known).
std::optional<Better> usual_direction(const std::string& base_unit);
// The same for a unit as others write it, whether its size is known here or not: whatever is per time is a rate
// ("tok/s", "GBps", "TFLOPs"), and a time, also one per piece of work, is a time ("msec", "min", "us/iter").
std::optional<Better> direction_as_written(const std::string& unit);
// Are values in these two base units the same thing? FLOP/s and op/s are.
bool same_unit(const std::string& a, const std::string& b);

// Why no device of today shows such a value, however it is meant: a slipped prefix, another unit, a bound that is none.
// "" for what can be. Any unit, prefixed ones and those that aren't known, too.
std::string absurd(double value, const std::string& unit);
// What is that many times better than what it is held against is another unit or other work, no better device.
inline constexpr double most_believable = 10;

}  // namespace assay
