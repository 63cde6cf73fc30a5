// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Units at the edges of the program: inside, everything is in SI base units (seconds, bytes, hertz, bytes per second).
// Decimal prefixes for rates and bytes (1 GB/s = 1e9 B/s); sizes that a user types may also be binary (GiB).
#pragma once

#include <cstdint>
#include <string>

namespace assay {

// "250ms", "2min", "1.5h" -> seconds. Units ms, s, min, h, d (`30m` means minutes too). UsageError names the text.
double parse_duration_s(const std::string& text);
// "64MiB", "2GB", "1024" -> bytes.
std::uint64_t parse_bytes(const std::string& text);

// "23.4 GB/s", "81.2 ns", "1.50 TFLOP/s": three significant digits and a prefix that fits the unit. NaN prints as "-".
std::string format_quantity(double value, const std::string& unit);
// "1.3", "52", "340": two digits below 100, whole numbers above. NaN prints as "-".
std::string format_factor(double factor);
// Shares as people read them, without a sign: "3.1 %", "340 %", "below 0.01 %".
std::string format_percent(double share);
// A change: "+3.10 %", "-0.25 %", "+340 %"; what rounds to nothing is "0.00 %".
std::string format_change(double share);
// "1 min 23 s", "4.2 s": for people.
std::string format_duration(double seconds);
// "1.5 GiB": for sizes of memory.
std::string format_bytes(double bytes);

}  // namespace assay
