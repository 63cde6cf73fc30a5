// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See compare.h. Trap: a prior counts for the variance of sessions only; epoch and control errors are taken as known,
// and widen the interval without degrees of freedom of their own.
#include "harness/stats/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"

namespace assay::stats {
namespace {

constexpr std::size_t sessions_for_modes = 10, most_sessions = 10000;

void check(const CompareOptions& o) {
  const char* what = "a comparison";
  require(o.margin > 0 && o.margin <= 1, what, "the margin lies above 0 and at most 1, not {}", o.margin);
  require(o.alpha > 0 && o.alpha < 0.5, what, "alpha lies between 0 and 0.5, not {}", o.alpha);
  require(o.power >= 0.5 && o.power < 1, what, "power lies between 0.5 and 1, not {}", o.power);
  require(o.spread_ratio > 1 && std::isfinite(o.spread_ratio), what, "the ratio of spreads is above 1");
  for (double sd : {o.epoch_sd, o.control_error})
    require(sd >= 0 && std::isfinite(sd), what, "a standard error is never {}", sd);
  require_finite({&o.control_shift, 1}, what);
}

double sign_of(Better better) { return better == Better::lower ? 1 : -1; }

// Variance of the difference that no session averages out.
double fixed_variance(const CompareOptions& o) {
  return 2 * o.epoch_sd * o.epoch_sd + o.control_error * o.control_error;
}

std::optional<Estimate> estimate_of(std::span<const Session> before, std::span<const Session> after,
                                    const CompareOptions& o, double margin) {
  const std::optional<Moderated> difference = moderated_difference(before, after, o.prior);
  if (!difference) return std::nullopt;
  Estimate e;
  e.worse = sign_of(o.better) * (difference->mean - o.control_shift);
  e.session_sd = difference->sd;
  e.df = difference->df;
  e.error = std::sqrt(difference->error * difference->error + fixed_variance(o));
  const double half = t_quantile(1 - o.alpha, e.df) * e.error;
  e.low = e.worse - half;
  e.high = e.worse + half;
  e.detectable = detectable_change(margin, e.error, e.df, o.alpha, o.power);
  e.p_regressed = t_cdf((margin - e.worse) / e.error, e.df);
  e.differs = e.low > 0 || e.high < 0;
  return e;
}

// Modes of one side on the worse axis, if they are far enough apart to matter.
std::optional<Modes> modes_of(std::span<const Session> sessions, double sign, double margin) {
  std::vector<double> values;
  for (const Session& s : sessions) values.push_back(sign * s.log_value);
  const std::optional<Modes> modes = find_modes(values);
  return modes && modes->gap() > margin ? modes : std::nullopt;
}

Outcome by_interval(const Estimate& e, double margin) {
  if (e.low > margin) return Outcome::regressed;
  if (e.high < -margin) return Outcome::improved;
  if (e.high < margin) return Outcome::no_regression;
  return Outcome::inconclusive;
}

// Whether the verdict would stand if the sides only differed in how often each mode came up: a change can't be larger
// than the gap then. NO_REGRESSION stands if both sides have modes (nothing new), not if one side has gained or lost
// one.
bool beyond_modes(const Comparison& c, double margin) {
  double gap = 0;
  for (const auto& modes : c.modes)
    if (modes) gap = std::max(gap, modes->gap());
  if (c.outcome == Outcome::no_regression) return c.modes[0].has_value() == c.modes[1].has_value();
  return c.estimate->low > margin + gap || c.estimate->high < -margin - gap;
}

void judge_modes(Comparison& c, double margin) {
  if (!c.modes[0] && !c.modes[1]) return;
  if (c.sessions[0] >= sessions_for_modes && c.sessions[1] >= sessions_for_modes) {
    if (beyond_modes(c, margin)) return;
    c.outcome = Outcome::mode_switch;
    c.because = Because::modes;
    c.sessions_asked.reset();
  } else if (c.outcome == Outcome::inconclusive) {
    c.sessions_asked = std::max(c.sessions_asked.value_or(0), sessions_for_modes);
  }
}

// Spread counts where the location has nothing worse to say, and where it is large enough to matter beside the margin.
// A smaller spread never turns INCONCLUSIVE into a pass.
void judge_spread(Comparison& c, const CompareOptions& o, double margin) {
  if (!c.spread || c.spread->larger < margin / 4) return;
  const double ratio = std::log(o.spread_ratio);
  const bool worse = c.spread->low > ratio, better = c.spread->high < -ratio;
  if (worse && (c.outcome == Outcome::no_regression || c.outcome == Outcome::inconclusive))
    c.outcome = Outcome::variance_worse;
  else if (better && c.outcome == Outcome::no_regression)
    c.outcome = Outcome::variance_better;
  else
    return;
  c.because = Because::spread;
  c.sessions_asked.reset();
}

}  // namespace

Comparison compare(std::span<const Session> before, std::span<const Session> after, const CompareOptions& options) {
  check(options);
  const double margin = std::log1p(options.margin), sign = sign_of(options.better);
  Comparison c;
  c.sessions = {before.size(), after.size()};
  c.estimate = estimate_of(before, after, options, margin);
  const std::size_t fewest = options.sessions_min ? options.sessions_min : options.prior.df > 0 ? 3 : 5;
  if (std::min(before.size(), after.size()) < fewest) {
    c.because = Because::too_few_sessions;
    c.sessions_asked = fewest;
    return c;
  }
  if (!c.estimate || is_constant(before) || is_constant(after)) {
    c.because = Because::no_spread;
    return c;
  }
  c.outcome = by_interval(*c.estimate, margin);
  if (c.outcome == Outcome::inconclusive) {
    // To the nearest of the boundaries that could decide, but not finer than a quarter of the margin: who sits on the
    // margin can't be decided by any number of sessions.
    const double gap = std::max(std::fabs(std::fabs(c.estimate->worse) - margin), margin / 4);
    c.sessions_asked = sessions_needed(c.estimate->session_sd, gap, options);
    // The data were unlucky if that many are there already.
    if (c.sessions_asked) c.sessions_asked = std::max(*c.sessions_asked, std::max(before.size(), after.size()) + 1);
  }
  c.modes = {modes_of(before, sign, margin), modes_of(after, sign, margin)};
  c.spread = spread_change(before, after, options.alpha);
  judge_modes(c, margin);
  if (c.outcome != Outcome::mode_switch) judge_spread(c, options, margin);
  return c;
}

double relative_change(double worse, Better better) { return std::expm1(sign_of(better) * worse); }

double detectable_change(double margin, double error, double df, double alpha, double power) {
  const double t = t_quantile(1 - alpha, df);
  const double noncentrality = t * (1 - 1 / (4 * df)) + normal_quantile(power) * std::sqrt(1 + t * t / (2 * df));
  return margin + noncentrality * error;
}

std::optional<std::size_t> sessions_needed(double session_sd, double gap, const CompareOptions& options) {
  check(options);
  const char* what = "the number of sessions";
  require(session_sd >= 0 && std::isfinite(session_sd), what, "a spread is never {}", session_sd);
  require(gap > 0 && std::isfinite(gap), what, "the gap is above 0, not {}", gap);
  const auto enough = [&](std::size_t sessions) {
    const auto s = static_cast<double>(sessions);
    const double error = std::sqrt(2 * session_sd * session_sd / s + fixed_variance(options));
    return detectable_change(0, error, options.prior.df + 2 * s - 2, options.alpha, options.power) <= gap;
  };
  if (!enough(most_sessions)) return std::nullopt;
  std::size_t low = 1, high = most_sessions;  // high is enough, low is not
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace assay::stats
