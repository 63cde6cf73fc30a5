// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See quantity.h.
#include "harness/verdict/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/base/units.h"

namespace assay {
namespace {

// Base units that take a prefix, as written and as kept.
const std::vector<std::pair<std::string, std::string>>& base_units() {
  static const std::vector<std::pair<std::string, std::string>> units{{"B/s", "B/s"},
                                                                      {"bit/s", "bit/s"},
                                                                      {"b/s", "bit/s"},
                                                                      {"op/s", "op/s"},
                                                                      {"OP/s", "op/s"},
                                                                      {"OPS", "op/s"},
                                                                      {"FLOP/s", "op/s"},
                                                                      {"FLOPS", "op/s"},
                                                                      {"s", "s"},
                                                                      {"W", "W"},
                                                                      {"J", "J"},
                                                                      {"Hz", "Hz"},
                                                                      {"B", "B"},
                                                                      {"sample/s", "sample/s"},
                                                                      {"token/s", "token/s"},
                                                                      {"tok/s", "token/s"},
                                                                      {"image/s", "image/s"},
                                                                      {"access/s", "access/s"}};
  return units;
}

constexpr std::array<const char*, 5> without_prefix{"%", "B/cycle", "op/cycle", "cycle", "degC"};

std::optional<double> prefix_factor(const std::string& prefix) {
  static const std::array<std::pair<const char*, double>, 14> prefixes{{{"", 1},
                                                                        {"k", 1e3},
                                                                        {"M", 1e6},
                                                                        {"G", 1e9},
                                                                        {"T", 1e12},
                                                                        {"P", 1e15},
                                                                        {"m", 1e-3},
                                                                        {"u", 1e-6},
                                                                        {"\xc2\xb5", 1e-6},
                                                                        {"n", 1e-9},
                                                                        {"Ki", 1024.0},
                                                                        {"Mi", 1048576.0},
                                                                        {"Gi", 1073741824.0},
                                                                        {"Ti", 1099511627776.0}}};
  for (const auto& [name, factor] : prefixes)
    if (prefix == name) return factor;
  return std::nullopt;
}

// What devices of today show, from a core to a rack of them, with a wide margin on both sides. A rate may be that of
// one byte, one operation or one token at a time; a time that of one operation, or of a whole training.
struct Believable {
  const char* unit;
  double least, most;
};
constexpr Believable believable[] = {
    {"B/s", 1e3, 1e17},       {"bit/s", 1e4, 1e18},    {"op/s", 1, 1e21},       {"access/s", 1, 1e18},
    {"sample/s", 1e-6, 1e12}, {"token/s", 1e-6, 1e12}, {"image/s", 1e-6, 1e12}, {"s", 1e-11, 1e5},
    {"B", 1, 1e16},           {"Hz", 1e-3, 1e12},      {"W", 1e-3, 1e6},        {"J", 1e-15, 1e12},
    {"degC", 1, 150},         {"%", 1e-3, 1e5},        {"B/cycle", 1e-8, 1e11}, {"op/cycle", 1e-11, 1e15},
    {"cycle", 1e-5, 1e16},    {"count", 1, 1e12},      {"GPUs", 1, 1e6},
};
// A unit that isn't known may be scaled by anything that people write: years in ns are 3e16.
constexpr Believable any_unit{"", 1e-30, 1e30};
// In small letters: "msec", "min", "us", "hours".
bool is_time(std::string_view unit) {
  for (const char* whole : {"min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d", "day", "days"})
    if (unit == whole) return true;
  for (const char* prefix : {"milli", "micro", "nano", "pico", "m", "u", "\xc2\xb5", "\xce\xbc", "n", "p", "f", ""}) {
    if (!starts_with(unit, prefix)) continue;
    const std::string_view rest = unit.substr(std::string_view(prefix).size());
    for (const char* second : {"s", "sec", "secs", "second", "seconds"})
      if (rest == second) return true;
  }
  return false;
}

// Per time, and still better low: "errors/s", "page-faults/s", "J/s".
bool is_trouble(const std::string& small) {
  for (const char* word : {"err", "fault", "miss", "drop", "retr", "stall", "loss", "fail", "throttl", "switch"})
    if (small.find(word) != std::string::npos) return true;
  return starts_with(small, "j/") || starts_with(small, "joule");
}

std::string folded(const std::string& unit) { return unit == "FLOP/s" ? "op/s" : unit; }

}  // namespace

std::optional<Quantity> unit_of(const std::string& unit) {
  for (const char* plain : without_prefix)
    if (unit == plain) return Quantity{1, unit};
  if (unit == "FLOP/cycle") return Quantity{1, "op/cycle"};
  for (const auto& [name, kept] : base_units()) {
    if (unit.size() < name.size() || unit.substr(unit.size() - name.size()) != name) continue;
    const auto factor = prefix_factor(unit.substr(0, unit.size() - name.size()));
    // There are no millibytes: who writes mB/s means MB/s, or passes anything.
    if (factor && (*factor >= 1 || kept == "s" || kept == "W" || kept == "J")) return Quantity{*factor, kept};
  }
  return std::nullopt;
}

std::string known_units() {
  std::vector<std::string> names;
  for (const auto& [name, kept] : base_units())
    if (name == kept) names.push_back(name);  // without its other spellings
  return fmt::format("{}, these with a prefix such as k, M, G, T, Ki, m or u; {}", join(names, ", "),
                     fmt::join(without_prefix, ", "));
}

std::optional<Quantity> parse_quantity(const std::string& text) {
  const std::string whole = trim(text);
  // strtod also takes hexadecimal, "inf" and "nan"; none of them is a number that a person means here.
  if (whole.find_first_not_of("+-.0123456789") == 0 || whole.find_first_of("xX") < 3) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(whole.c_str(), &end);
  if (end == whole.c_str() || !std::isfinite(value)) return std::nullopt;
  std::optional<Quantity> unit = unit_of(trim(end));
  if (unit) unit->value *= value;
  return unit;
}

std::optional<Better> usual_direction(const std::string& base_unit) {
  const std::optional<Quantity> known = unit_of(base_unit);
  if (!known || known->value != 1) return std::nullopt;
  const std::string& unit = known->unit;
  if (unit == "s" || unit == "cycle") return Better::lower;
  const bool rate = unit == "Hz" || unit.find("/s") != std::string::npos || unit.find("/cycle") != std::string::npos;
  return rate ? std::optional(Better::higher) : std::nullopt;
}

std::optional<Better> direction_as_written(const std::string& unit) {
  if (const auto known = unit_of(unit)) return usual_direction(known->unit);
  std::string small;
  for (const char c : trim(unit)) small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* per : {" per ", "_per_"})
    if (const std::size_t at = small.find(per); at != std::string::npos) small.replace(at, std::strlen(per), "/");
  const std::size_t slash = small.rfind('/');
  if (slash != std::string::npos) {
    if (is_time(trim(small.substr(slash + 1)))) return is_trouble(small) ? std::nullopt : std::optional(Better::higher);
    return is_time(trim(small.substr(0, small.find('/')))) ? std::optional(Better::lower) : std::nullopt;
  }
  if (is_time(small)) return Better::lower;
  const auto ends_with = [&](const std::string& end) {
    return small.size() > end.size() && small.compare(small.size() - end.size(), end.size(), end) == 0;
  };
  for (const char* rate : {"bps", "flops", "iops", "qps", "tps", "rps", "fps", "hz"})
    if (ends_with(rate) || small == rate) return Better::higher;
  for (const char* rate : {"ops", "kops", "mops", "gops", "tops", "pops"})  // not "hops"
    if (small == rate) return Better::higher;
  return std::nullopt;
}

bool same_unit(const std::string& a, const std::string& b) { return folded(a) == folded(b); }

std::string absurd(double value, const std::string& unit) {
  const Quantity base = unit_of(unit).value_or(Quantity{1, unit});
  const auto found = std::find_if(std::begin(believable), std::end(believable),
                                  [&](const Believable& row) { return row.unit == base.unit; });
  const Believable& range = found == std::end(believable) ? any_unit : *found;
  const double size = value * base.value;
  if (size >= range.least && size <= range.most) return {};
  const auto figure = [&](double x) {
    return unit_of(base.unit) ? format_quantity(x, base.unit) : fmt::format("{:.3g} {}", x, shown(base.unit));
  };
  return fmt::format("{} is nothing that a device shows: it would be from {} to {}", figure(size), figure(range.least),
                     figure(range.most));
}

}  // namespace assay
