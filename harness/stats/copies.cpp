// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See copies.h. Traps: the chance of an agreement is counted among samples of one session, never between sessions,
// where the copies themselves would raise it; and what was seen never is too few to say "never": a share has a floor.
#include "harness/stats/copies.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/stats/check.h"
#include "harness/stats/robust.h"

namespace assay::stats {
namespace {

constexpr double same = 1e-12;        // of a value: the last digits of a conversion
constexpr double rounding = 0.02;     // of the spread of a session's samples
constexpr double log_chance = -20.7;  // 10^-9: as three samples of which nothing is known but that they are the same
constexpr double log_chance_of_any = -16.1;  // 10^-7: that among all pairs of many sessions any comes out so by chance
// Nobody knows better from a few pairs of samples. Normal samples agree within `rounding` in 1.1 % of all pairs.
constexpr double least_share = 0.001, least_share_rounded = 0.01;
constexpr std::size_t least_samples = 3;

// What is known of one metric of all sessions: how near is the same, and how often two honest samples are that near.
struct Alike {
  double same = 0, rounded = 0;
  double log_share = 0, log_share_rounded = 0;
  double pairs = 0;  // that this was seen in
};

double pairs_of(std::size_t n) { return static_cast<double>(n) * (static_cast<double>(n) - 1) / 2; }

double pairs_within(const std::vector<double>& sorted, double tolerance) {
  double pairs = 0;
  for (std::size_t low = 0, high = 0; high < sorted.size(); ++high) {
    while (sorted[high] - sorted[low] > tolerance) ++low;
    pairs += static_cast<double>(high - low);
  }
  return pairs;
}

// The samples of each session, sorted. Sessions of one sample each are one group: there are no pairs inside them.
std::vector<std::vector<double>> sorted_groups(std::span<const SessionSamples> sessions, std::size_t metric) {
  std::vector<std::vector<double>> groups;
  std::vector<double> single;
  for (const SessionSamples& session : sessions) {
    const std::span<const double> samples = session[metric];
    if (samples.size() == 1) single.push_back(samples.front());
    if (samples.size() < 2) continue;
    groups.emplace_back(samples.begin(), samples.end());
    std::sort(groups.back().begin(), groups.back().end());
  }
  if (groups.empty() && single.size() > 1) {
    std::sort(single.begin(), single.end());
    groups.push_back(std::move(single));
  }
  return groups;
}

Alike alike(std::span<const SessionSamples> sessions, std::size_t metric) {
  const std::vector<std::vector<double>> groups = sorted_groups(sessions, metric);
  double largest = 0, pairs = 0, equal = 0, near = 0;
  std::vector<double> residuals;
  for (const SessionSamples& session : sessions)
    for (const double sample : session[metric]) largest = std::max(largest, std::fabs(sample));
  for (const std::vector<double>& group : groups)
    for (const double sample : group) residuals.push_back(sample - sorted_quantile(group, 0.5));
  Alike result;
  result.same = same * largest;
  result.rounded = residuals.empty() ? 0 : std::max(result.same, rounding * scaled_mad(residuals));
  for (const std::vector<double>& group : groups) {
    pairs += pairs_of(group.size());
    equal += pairs_within(group, result.same);
    near += pairs_within(group, result.rounded);
  }
  result.pairs = pairs;
  result.log_share = std::log(std::max(least_share, pairs > 0 ? equal / pairs : 0));
  result.log_share_rounded = std::log(std::max(least_share_rounded, pairs > 0 ? near / pairs : 0));
  return result;
}

bool all_within(std::span<const double> a, std::span<const double> b, double tolerance) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](double x, double y) { return std::fabs(x - y) <= tolerance; });
}

double mean_of(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// The log of the chance that honest samples agree as these do; nullopt when they don't.
std::optional<double> chance_of(std::span<const double> a, std::span<const double> b, const Alike& alike) {
  if (a.size() != b.size()) return std::nullopt;
  if (a.empty()) return 0;
  const auto n = static_cast<double>(a.size());
  if (all_within(a, b, alike.rounded))
    return all_within(a, b, alike.same) ? n * alike.log_share : n * alike.log_share_rounded;
  if (std::fabs(mean_of(a) - mean_of(b)) > alike.same) return std::nullopt;
  std::vector<double> left(a.begin(), a.end()), right(b.begin(), b.end());
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  if (!all_within(left, right, alike.same)) return std::nullopt;
  double chance = 0;  // each finds its like among those that are left
  for (std::size_t left_over = a.size(); left_over > 0; --left_over)
    chance += std::min(0.0, std::log(static_cast<double>(left_over)) + alike.log_share);
  return chance;
}

std::optional<double> chance_of(const SessionSamples& a, const SessionSamples& b, const std::vector<Alike>& all) {
  double chance = 0;
  for (std::size_t metric = 0; metric < all.size(); ++metric) {
    const auto one = chance_of(a[metric], b[metric], all[metric]);
    if (!one) return std::nullopt;
    chance += *one;
  }
  return chance;
}

std::size_t size_of(const SessionSamples& session) {
  return std::accumulate(session.begin(), session.end(), std::size_t{0},
                         [](std::size_t sum, std::span<const double> samples) { return sum + samples.size(); });
}

// Sessions of one sample a metric have their chance from each other, so those that are equal count once there.
std::vector<SessionSamples> unlike(std::span<const SessionSamples> sessions) {
  const auto before = [](const SessionSamples* a, const SessionSamples* b) {
    return std::lexicographical_compare(a->begin(), a->end(), b->begin(), b->end(), [](auto x, auto y) {
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    });
  };
  std::set<const SessionSamples*, decltype(before)> known(before);
  std::vector<SessionSamples> result;
  for (const SessionSamples& session : sessions)
    if (known.insert(&session).second) result.push_back(session);
  return result;
}

// By where its samples begin and what their mean is: copies are neighbours, and reach as far down and up.
struct Place {
  std::size_t first_metric = 0;
  double mean = 0;
  std::size_t session = 0;
  double least = 0, greatest = 0;
  auto operator<=>(const Place&) const = default;
};

bool is_near(const Place& a, const Place& b, double near) {
  return std::fabs(a.least - b.least) <= near && std::fabs(a.greatest - b.greatest) <= near;
}

// What a pair among so many sessions must be less likely than.
double log_bound(std::size_t sessions) {
  return std::min(log_chance, log_chance_of_any - std::log(pairs_of(sessions)));
}

std::vector<Place> sorted_places(std::span<const SessionSamples> sessions) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < sessions.size(); ++i)
    for (std::size_t metric = 0; metric < sessions[i].size(); ++metric)
      if (!sessions[i][metric].empty()) {
        const std::span<const double> samples = sessions[i][metric];
        const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
        places.push_back({metric, mean_of(samples), i, *least, *greatest});
        break;
      }
  std::sort(places.begin(), places.end());
  return places;
}

// What the longest session would say if all of it agreed with another: constants and coarse values prove nothing.
double likeliest_copy(std::span<const SessionSamples> sessions, const std::vector<Alike>& all) {
  double sum = 0;
  for (std::size_t metric = 0; metric < all.size(); ++metric) {
    std::size_t longest = 0;
    for (const SessionSamples& session : sessions) longest = std::max(longest, session[metric].size());
    sum += static_cast<double>(longest) * std::min(all[metric].log_share, all[metric].log_share_rounded);
  }
  return sum;
}

void check(std::span<const SessionSamples> sessions) {
  for (const SessionSamples& session : sessions)
    for (const std::span<const double> samples : session) require_finite(samples, "a search for copies");
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> find_copy(std::span<const SessionSamples> sessions) {
  check(sessions);
  if (sessions.size() < 2) return std::nullopt;
  const bool single = std::all_of(sessions.begin(), sessions.end(), [](const SessionSamples& session) {
    return std::all_of(session.begin(), session.end(), [](auto samples) { return samples.size() < 2; });
  });
  const std::vector<SessionSamples> kinds = single ? unlike(sessions) : std::vector<SessionSamples>();
  std::vector<Alike> all;
  for (std::size_t metric = 0; metric < sessions.front().size(); ++metric)
    all.push_back(alike(single ? std::span<const SessionSamples>(kinds) : sessions, metric));
  const double bound = log_bound(sessions.size());
  if (likeliest_copy(sessions, all) > bound) return std::nullopt;
  const std::vector<Place> places = sorted_places(sessions);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& one = places[i];
    if (size_of(sessions[one.session]) < least_samples) continue;
    const double near = std::max(all[one.first_metric].rounded, all[one.first_metric].same);
    for (std::size_t j = i + 1;
         j < places.size() && places[j].first_metric == one.first_metric && places[j].mean - one.mean <= near; ++j) {
      if (!is_near(one, places[j], near)) continue;
      const auto chance = chance_of(sessions[one.session], sessions[places[j].session], all);
      if (chance && *chance <= bound) return std::minmax(one.session, places[j].session);
    }
  }
  return std::nullopt;
}

bool holds_copies(std::span<const SessionSamples> before, std::span<const SessionSamples> after) {
  check(before);
  check(after);
  if (before.empty() || after.empty()) return false;
  Alike both = alike(before, 0);
  const Alike other = alike(after, 0);
  both.same = std::max(both.same, other.same);
  both.rounded = std::max(both.same, std::min(both.rounded, other.rounded));
  both.log_share = std::max(both.log_share, other.log_share);
  both.log_share_rounded = std::max(both.log_share_rounded, other.log_share_rounded);
  if (std::min(both.log_share, both.log_share_rounded) == 0) return false;  // a constant
  // A session in the same place needs no search; one that is found elsewhere must not stand on what few pairs left
  // open.
  Alike elsewhere = both;
  for (double* share : {&elsewhere.log_share, &elsewhere.log_share_rounded})
    *share = std::min(0.0, std::log(std::exp(*share) + 1 / (1 + both.pairs + other.pairs)));
  const std::vector<Place> places = sorted_places(before);
  std::vector<bool> taken(before.size());
  std::size_t found = 0, samples = 0;
  double chance = 0;
  for (const Place& mine : sorted_places(after)) {
    const std::size_t i = mine.session;
    const auto first = std::lower_bound(places.begin(), places.end(), mine.mean - both.rounded,
                                        [](const Place& place, double least) { return place.mean < least; });
    std::optional<std::pair<double, std::size_t>> likest;
    for (auto place = first; place != places.end() && place->mean - mine.mean <= both.rounded; ++place) {
      if (taken[place->session] || !is_near(*place, mine, both.rounded)) continue;
      const bool here = place->session == i;
      const auto one = chance_of(before[place->session].front(), after[i].front(), here ? both : elsewhere);
      if (!one) continue;
      const double all = here ? *one : std::min(0.0, *one + std::log(static_cast<double>(before.size())));
      if (!likest || all < likest->first) likest = {all, place->session};
    }
    if (!likest) continue;
    taken[likest->second] = true;
    ++found;
    samples += after[i].front().size();
    chance += likest->first;
  }
  return samples >= least_samples && 2 * found >= std::min(before.size(), after.size()) && chance <= log_chance;
}

}  // namespace assay::stats
