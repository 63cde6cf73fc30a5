// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Time sources. Monotonic nanoseconds are CLOCK_MONOTONIC on every side of the worker protocol, so that parent and
// workers agree on an instant.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

inline std::int64_t clock_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline double seconds_since(std::int64_t begin_ns) { return static_cast<double>(monotonic_ns() - begin_ns) * 1e-9; }

// "2026-11-30T17:05:01.123Z"
std::string utc_now();
// "20261130T170501Z", for folder names
std::string utc_compact();

// "2026-11-30T17:05:01Z", an offset instead of the Z, or seconds since 1970. nullopt for anything else: a time without
// its zone names no instant.
std::optional<double> unix_time(std::string_view text);
std::string utc_text(double unix_s);

struct TimerCost {
  double resolution_s;  // smallest step seen between two different readings
  double read_s;        // mean cost of one reading
};
// Measured once per process; a block is at least 1000 times the larger of the two.
TimerCost timer_cost();

}  // namespace assay
