// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "harness/stats/session.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/check.h"
#include "harness/stats/robust.h"

namespace assay::stats {
namespace {

// Mean of the values between the quartiles; a value that a quartile cuts counts in part.
double middle_mean(std::span<const double> sorted) {
  const auto n = static_cast<double>(sorted.size());
  const double from = n / 4, to = n - from;
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto at = static_cast<double>(i);
    const double share = std::min(at + 1, to) - std::max(at, from);
    if (share > 0) sum += share * sorted[i];
  }
  return sum / (to - from);
}

struct Group {
  double n = 0, mean = 0, squares = 0;
  bool one_value = true;  // a single session of a single sample
};
Group group_of(std::span<const Session> sessions) {
  Group g;
  g.one_value = sessions.size() == 1 && sessions[0].samples == 1;
  for (const Session& s : sessions) {
    require_finite({&s.log_value, 1}, "a session's value");
    const double delta = s.log_value - g.mean;
    g.n += 1;
    g.mean += delta / g.n;
    g.squares += delta * (s.log_value - g.mean);
  }
  return g;
}

double least_step(std::span<const Session> sessions, double least) {
  for (const Session& s : sessions)
    if (s.log_step > 0 && (least == 0 || s.log_step < least)) least = s.log_step;
  return least;
}

void check(const Prior& prior) {
  require(prior.df >= 0 && std::isfinite(prior.df), "a prior", "degrees of freedom are never {}", prior.df);
  require(prior.df == 0 || (prior.sd > 0 && std::isfinite(prior.sd)), "a prior",
          "its standard deviation is above 0, not {}", prior.sd);
}

// Nothing varies, between sessions or inside them, although there is more than one value to see it in. A machine is not
// like that, so a prior can't stand in for it. Rounding of equal logs is no spread.
bool all_equal(const Group& g, double step) {
  const double rounding = 1e-14 * std::max(1.0, std::fabs(g.mean));
  return step == 0 && g.squares <= rounding * rounding;
}

}  // namespace

std::optional<Session> session_of(std::span<const double> samples) {
  std::vector<double> logs;
  logs.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    require(std::isfinite(samples[i]) && samples[i] > 0, "a session",
            "samples are finite and above 0; sample {} of {} is {}", i + 1, samples.size(), samples[i]);
    logs.push_back(std::log(samples[i]));
  }
  if (logs.empty()) return std::nullopt;
  std::sort(logs.begin(), logs.end());
  Session session;
  session.samples = logs.size();
  session.log_value = middle_mean(logs);
  const double centre = sorted_quantile(logs, 0.5);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    session.log_spread += std::fabs(logs[i] - centre) / static_cast<double>(logs.size());
    const double step = i > 0 ? logs[i] - logs[i - 1] : 0;
    if (step > 0 && (session.log_step == 0 || step < session.log_step)) session.log_step = step;
  }
  return session;
}

bool is_constant(std::span<const Session> sessions) {
  constexpr double same = 1e-9;
  if (sessions.empty() || (sessions.size() == 1 && sessions.front().samples < 2)) return false;
  const auto [low, high] = std::minmax_element(
      sessions.begin(), sessions.end(), [](const Session& a, const Session& b) { return a.log_value < b.log_value; });
  return high->log_value - low->log_value <= same &&
         std::all_of(sessions.begin(), sessions.end(), [](const Session& s) { return s.log_spread <= same; });
}

std::optional<Moderated> moderated_mean(std::span<const Session> sessions, const Prior& prior) {
  check(prior);
  const Group g = group_of(sessions);
  Moderated m;
  m.mean = g.mean;
  m.df = prior.df + g.n - 1;
  if (g.n < 1 || m.df <= 0) return std::nullopt;
  const double step = least_step(sessions, 0);
  if (!g.one_value && all_equal(g, step)) return std::nullopt;
  const double variance = std::max((prior.df * prior.sd * prior.sd + g.squares) / m.df, step * step / 12);
  m.sd = std::sqrt(variance);
  m.error = m.sd / std::sqrt(g.n);
  return m;
}

std::optional<Moderated> moderated_difference(std::span<const Session> first, std::span<const Session> second,
                                              const Prior& prior) {
  check(prior);
  const Group a = group_of(first), b = group_of(second);
  Moderated m;
  m.mean = b.mean - a.mean;
  m.df = prior.df + a.n + b.n - 2;
  if (a.n < 1 || b.n < 1 || m.df <= 0) return std::nullopt;
  const double known = prior.df * prior.sd * prior.sd;
  const double step = least_step(second, least_step(first, 0));
  const double least = step * step / 12;
  if (!(a.one_value && b.one_value) && all_equal(a, step) && all_equal(b, step)) return std::nullopt;
  const double variance = std::max((known + a.squares + b.squares) / m.df, least);
  m.sd = std::sqrt(variance);
  m.error = m.sd * std::sqrt(1 / a.n + 1 / b.n);
  const double df_a = prior.df + a.n - 1, df_b = prior.df + b.n - 1;
  if (a.n == b.n || df_a <= 0 || df_b <= 0) return m;
  const double part_a = std::max((known + a.squares) / df_a, least) / a.n;
  const double part_b = std::max((known + b.squares) / df_b, least) / b.n;
  if (part_a + part_b <= m.error * m.error) return m;
  m.error = std::sqrt(part_a + part_b);
  m.df = (part_a + part_b) * (part_a + part_b) / (part_a * part_a / df_a + part_b * part_b / df_b);
  return m;
}

std::vector<Session> mean_over_devices(std::span<const std::vector<Session>> devices) {
  require(!devices.empty(), "the mean over devices", "there is no device");
  std::vector<Session> mean(devices.front().size());
  const auto n = static_cast<double>(devices.size());
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = {0, 0, 0, 0};
  for (const std::vector<Session>& sessions : devices) {
    require(sessions.size() == mean.size(), "the mean over devices", "devices have {} and {} sessions", mean.size(),
            sessions.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i].log_value += sessions[i].log_value / n;
      mean[i].log_spread += sessions[i].log_spread / n;
      mean[i].samples += sessions[i].samples;
      mean[i].log_step = least_step({&sessions[i], 1}, mean[i].log_step);
    }
  }
  return mean;
}

}  // namespace assay::stats
