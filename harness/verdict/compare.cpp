// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See compare.h. Reads as: one metric; all metrics; several devices as one; what is common; the last word.
#include "harness/verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/stats/moments.h"
#include "harness/stats/multiple.h"
#include "harness/verdict/control.h"
#include "harness/verdict/quantity.h"
#include "harness/verdict/rank.h"

namespace assay {
namespace {

// "3.1 % slower": for a rate that fell and for a time that grew.
std::string how_much(const MetricVerdict& v) {
  if (v.effect() == 0) return "no change";
  return fmt::format("{} {}", format_percent(v.effect()), v.estimate->worse > 0 ? "worse" : "better");
}

std::string sessions_text(const MetricVerdict& v) {
  const std::string before = counted(v.before, "session");
  return v.before == v.after ? before + " a side" : fmt::format("{} before, {} after", before, v.after);
}

double cycle_effect(const MetricVerdict& v) { return stats::relative_change(v.cycles->worse, v.better); }

// What the axis per cycle adds, where there is one.
std::string clock_text(const MetricVerdict& v) {
  if (!v.cycles || !v.clock_effect) return {};
  const double allowed = v.allowed();
  const bool worse = v.verdict == Outcome::regressed;
  if (worse && v.cycles->high < allowed && *v.clock_effect < 0)
    return fmt::format(", explained by a {} lower clock", format_percent(*v.clock_effect));
  if (worse && v.cycles->low > allowed)
    return fmt::format(", and {} worse at the same clock", format_percent(cycle_effect(v)));
  if (!worse && v.cycles->low > allowed && *v.clock_effect > 0)
    return fmt::format("; but {} worse per cycle, which a {} higher clock hides", format_percent(cycle_effect(v)),
                       format_percent(*v.clock_effect));
  return {};
}

// `grows`: AFTER alone does, and BEFORE stays as it is.
std::string ask_text(const MetricVerdict& v, bool grows) {
  constexpr double most = 50;
  if (!v.asked) return {};
  const auto asked = static_cast<double>(*v.asked);
  // As precise as `asked` on both sides: 1 / before + 1 / after = 2 / asked.
  const double rest = 2 / asked - (grows ? 1 / static_cast<double>(v.before) : 1 / asked);
  if (rest > 0 && 1 / rest <= most)
    return fmt::format("; {:.0f} sessions {} would probably decide", std::ceil(1 / rest),
                       grows ? "of AFTER" : "a side");
  if (grows && asked <= most)
    return fmt::format("; BEFORE has too few: {:.0f} sessions a side would probably decide", asked);
  return "; more sessions won't decide at this noise: a quieter machine would, or a larger --margin";
}

// "0.28 % worse", of a log on the worse axis.
std::string how_much(double worse, Better better) {
  return fmt::format("{} {}", format_percent(stats::relative_change(worse, better)), worse > 0 ? "worse" : "better");
}

// "99 %"
std::string sureness(double alpha) { return fmt::format("{:.4g} %", 100 * (1 - alpha)); }

// What an interval says that holds the margin, in digits that tell the figures apart.
std::string straddling(const MetricVerdict& v) {
  const auto exact = [&](double worse) {
    return fmt::format("{:.2f} % {}", 100 * std::fabs(stats::relative_change(worse, v.better)),
                       worse > 0 ? "worse" : "better");
  };
  return fmt::format("{} (between {} and {}); the {} allowed is inside of that", exact(v.estimate->worse),
                     exact(v.estimate->low), exact(v.estimate->high), format_percent(v.margin));
}

// The sentence of a comparison that could be made.
std::string sentence(const MetricVerdict& v, const stats::Comparison& comparison, bool grows) {
  using stats::Because;
  const std::string asked = ask_text(v, grows);
  if (comparison.because == Because::too_few_sessions)
    return fmt::format("{} {} too few{}", sessions_text(v), v.before == 1 && v.after == 1 ? "is" : "are", asked);
  if (comparison.because == Because::no_spread)
    return "every sample of a side is the same: that is a constant, not a measurement";
  if (v.verdict == Outcome::mode_switch)
    return fmt::format("its sessions fall into two modes, and that may be all that changed{}", asked);
  if (comparison.because == Because::spread && comparison.spread)
    return fmt::format("same value, but its samples scatter {} times as much",
                       format_factor(std::exp(comparison.spread->log_ratio)));
  if (!v.estimate) return fmt::format("{} give no estimate{}", sessions_text(v), asked);
  switch (v.verdict) {
    case Outcome::regressed:
      return fmt::format("{}, more than the {} allowed{}", how_much(v), format_percent(v.margin), clock_text(v));
    case Outcome::improved:
      return fmt::format("{}{}", how_much(v), clock_text(v));
    case Outcome::no_regression:
      return fmt::format("at {} {} ({} sure), and {} is allowed; a loss of {} would have been seen 9 times in 10{}",
                         v.estimate->high > 0 ? "worst" : "least", how_much(v.estimate->high, v.better),
                         sureness(v.alpha), format_percent(v.margin), format_percent(v.detectable()), clock_text(v));
    default:
      return straddling(v) + asked;
  }
}

// Why a metric has fewer sessions than were asked for. nullopt: all are there.
std::optional<Unmeasured> worst_ending(const Side& side, const SideKey& key) {
  const auto found = side.cases.find({key.device, key.case_name});
  return found == side.cases.end() ? std::nullopt : found->second.worst_ending();
}

double alpha_of(std::size_t before_sessions, const CompareSettings& settings) {
  const auto of_look = settings.look_alpha.find(before_sessions);
  return of_look != settings.look_alpha.end() ? of_look->second : settings.alpha;
}

// Has the interval decided for good? Modes and a spread that changed can still come and go.
bool has_decided(const stats::Comparison& c, double allowed) {
  using stats::Because;
  if (!c.estimate || (c.because != Because::interval && c.because != Because::spread)) return false;
  return c.estimate->low > allowed || c.estimate->high < allowed;
}

MetricVerdict begin(const SideKey& key, const SideMetric& metric, const CompareSettings& settings) {
  MetricVerdict v;
  v.key = key;
  v.benchmark = metric.benchmark;
  v.worker = metric.worker;
  v.unit = metric.unit;
  v.better = metric.better;
  v.margin = margin_of(key, metric.benchmark, settings);
  v.before = metric.seconds.size();
  v.alpha = alpha_of(v.before, settings);
  return v;
}

// What the class of the device knows; nothing without a baseline, and nothing of several devices together.
stats::Prior prior_of(const MetricVerdict& v, Axis axis, const CompareSettings& settings) {
  const auto device = settings.of_class.find(v.key.device);
  if (!settings.baseline || device == settings.of_class.end()) return {};
  const BaselineRow* row = settings.baseline->find({v.key.case_name, v.key.metric, v.key.series, axis});
  if (row == nullptr || (axis == Axis::second && !conflict(*row, v.unit, v.better).empty())) return {};
  const bool unlike = (!row->worker.empty() && !v.worker.empty() && row->worker != v.worker) ||
                      (!row->modes.empty() && row->modes != device->second);
  return unlike ? stats::Prior{} : session_prior(*row);
}

void judge(MetricVerdict& v, const SideMetric& before, const SideMetric& after, const CompareSettings& settings) {
  stats::CompareOptions options = options_of(v, settings);
  const stats::Comparison comparison = stats::compare(before.seconds, after.seconds, options);
  v.verdict = comparison.outcome;
  v.settled = has_decided(comparison, v.allowed()) || v.before < settings.sessions_min;
  v.after = after.seconds.size();
  v.estimate = comparison.estimate;
  v.asked = comparison.sessions_asked;
  v.prior = options.prior;
  options.prior = prior_of(v, Axis::cycle, settings);
  if (!before.cycles.empty() && !after.cycles.empty())
    v.cycles = stats::compare(before.cycles, after.cycles, options).estimate;
  if (!before.log_clock.empty() && !after.log_clock.empty())
    v.clock_effect = std::expm1(stats::mean_of(after.log_clock) - stats::mean_of(before.log_clock));
  v.reason = sentence(v, comparison, !settings.look_alpha.empty());
  const auto share = [](const SideMetric& side) {
    return side.samples > 0 ? static_cast<double>(side.disturbed) / static_cast<double>(side.samples) : 0;
  };
  v.disturbed = std::max(share(before), share(after));
  if (v.disturbed > 0.5 && (comparison.because == stats::Because::interval || code(v.verdict) == exit_code::pass)) {
    v.verdict = Outcome::inconclusive;
    v.settled = false;
    v.reason = fmt::format(
        "something else used the CPUs in {} of the samples: measure on a quiet machine; else it "
        "would be: {}",
        format_percent(v.disturbed), v.reason);
  }
  if (code(v.verdict) != exit_code::pass) return;
  if (!before.cycles.empty() && after.cycles.empty()) {
    v.verdict = Outcome::not_run;
    v.reason = "BEFORE has it per cycle, too, and AFTER lacks a clock: " + v.reason;
  } else if (std::fabs(v.estimate->worse) > std::log(most_believable)) {
    v.verdict = Outcome::inconclusive;
    v.reason = fmt::format("a change by more than a factor of {:.0f} is another unit or another thing, no improvement",
                           most_believable);
  }
}

bool has_device(const Side& side, const std::string& device) {
  const auto first = side.cases.lower_bound({device, ""});
  return first != side.cases.end() && first->first.first == device;
}

MetricVerdict verdict_on(const SideKey& key, const SideMetric& before, const Side& old_side, const Side& new_side,
                         const CompareSettings& settings) {
  MetricVerdict v = begin(key, before, settings);
  const auto after = new_side.metrics.find(key);
  // A wrong result or a crash is told as what it is, however many other sessions went well.
  if (const auto missing = worst_ending(new_side, key)) {
    v.verdict = missing->outcome;
    v.settled = true;
    v.reason = fmt::format("AFTER: {}", missing->reason);
    v.after = after == new_side.metrics.end() ? 0 : after->second.seconds.size();
    return v;
  }
  if (after == new_side.metrics.end() || after->second.seconds.empty()) {
    v.verdict = Outcome::not_run;
    v.settled = true;
    v.reason = has_device(new_side, key.device)
                   ? "BEFORE measured it, AFTER did not"
                   : fmt::format("AFTER has no device {}: devices are known again by UUID or PCI address", key.device);
    return v;
  }
  if (after->second.unit != before.unit || after->second.better != before.better) {
    v.verdict = Outcome::inconclusive;
    v.settled = true;
    v.reason = fmt::format("it is in {} before and in {} after: another metric by the same name", before.unit,
                           after->second.unit);
    return v;
  }
  judge(v, before, after->second, settings);
  if (const auto missing = worst_ending(old_side, key); missing && code(v.verdict) == exit_code::pass) {
    v.verdict = Outcome::inconclusive;
    v.reason = fmt::format("BEFORE lacks a session ({}); {}", missing->reason, v.reason);
  }
  return v;
}

// A case that BEFORE had to measure and did not: there is nothing to hold AFTER against.
void add_unmeasured_before(const Side& before, std::vector<MetricVerdict>& verdicts) {
  for (const auto& [where, of_case] : before.cases) {
    if (of_case.measured > 0) continue;
    MetricVerdict v;
    v.key = {where.first, where.second, "", ""};
    v.benchmark = of_case.benchmark;
    v.verdict = Outcome::not_run;
    v.settled = true;
    const auto ending = of_case.worst_ending();
    v.reason = fmt::format("BEFORE has no value for it: {}", ending ? ending->reason : "no record");
    verdicts.push_back(std::move(v));
  }
}

// A wrong result or a crash in a case that BEFORE doesn't have: nothing to compare, and no machine to pass.
void add_wrong_after(const Side& before, const Side& after, std::vector<MetricVerdict>& verdicts) {
  for (const auto& [where, of_case] : after.cases) {
    const auto ending = of_case.worst_ending();
    if (before.cases.count(where) != 0 || !ending ||
        (code(ending->outcome) != exit_code::fail && code(ending->outcome) != exit_code::error))
      continue;
    MetricVerdict v;
    v.key = {where.first, where.second, "", ""};
    v.benchmark = of_case.benchmark;
    v.verdict = ending->outcome;
    v.settled = true;
    v.reason = fmt::format("AFTER, which alone has it: {}", ending->reason);
    verdicts.push_back(std::move(v));
  }
}

void adjust_for_many(std::vector<MetricVerdict>& verdicts) {
  std::vector<double> p_values;
  for (const MetricVerdict& v : verdicts)
    if (v.estimate) p_values.push_back(v.estimate->p_regressed);
  const std::vector<double> adjusted = stats::benjamini_hochberg(p_values);
  std::size_t next = 0;
  for (MetricVerdict& v : verdicts)
    if (v.estimate) v.adjusted_p = adjusted[next++];
}

// Fail first, then what could not be told, then what is fine; the largest change first.
void sort_worst_first(std::vector<MetricVerdict>& verdicts) {
  const auto is_fine = [](const MetricVerdict& v) { return code(v.verdict) == exit_code::pass; };
  const auto size = [](const MetricVerdict& v) { return v.estimate ? v.estimate->worse : 0; };
  std::stable_sort(verdicts.begin(), verdicts.end(), [&](const MetricVerdict& a, const MetricVerdict& b) {
    if (rank(a.verdict) != rank(b.verdict)) return rank(a.verdict) < rank(b.verdict);
    if (!is_fine(a) && size(a) != size(b)) return size(a) > size(b);
    return a.key < b.key;
  });
}

// The same metric of several devices as one: paired by session, where all have as many.
std::vector<MetricVerdict> over_devices(const Side& before, const Side& after, const CompareSettings& settings) {
  std::map<SideKey, std::vector<const SideMetric*>> old_values, new_values;
  for (const auto& [key, metric] : before.metrics) {
    const auto same = after.metrics.find(key);
    if (same == after.metrics.end()) continue;
    const SideKey all{"all", key.case_name, key.metric, key.series};
    old_values[all].push_back(&metric);
    new_values[all].push_back(&same->second);
  }
  const auto joined = [](const std::vector<const SideMetric*>& devices) -> std::optional<SideMetric> {
    SideMetric all = *devices.front();
    std::vector<std::vector<stats::Session>> sessions;
    for (const SideMetric* device : devices) {
      if (device->seconds.size() != all.seconds.size()) return std::nullopt;
      sessions.push_back(device->seconds);
    }
    all.seconds = stats::mean_over_devices(sessions);
    all.cycles.clear();
    all.log_clock.clear();
    return all;
  };
  std::vector<MetricVerdict> verdicts;
  for (const auto& [key, devices] : old_values) {
    if (devices.size() < 2) continue;
    const auto was = joined(devices), is = joined(new_values.at(key));
    if (!was || !is) continue;
    MetricVerdict v = begin(key, *was, settings);
    judge(v, *was, *is, settings);
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

Outcome last_word(const std::vector<MetricVerdict>& verdicts) {
  std::vector<Outcome> words;
  for (const MetricVerdict& v : verdicts) words.push_back(v.verdict);
  const Outcome word = worst(words);
  if (code(word) != exit_code::pass) return word;
  const bool all_better = std::all_of(words.begin(), words.end(), [](Outcome w) { return w == Outcome::improved; });
  return all_better ? Outcome::improved : Outcome::no_regression;
}

}  // namespace

stats::CompareOptions options_of(const MetricVerdict& v, const CompareSettings& settings) {
  stats::CompareOptions options;
  options.better = v.better;
  options.margin = std::expm1(v.allowed());
  options.alpha = v.alpha;
  options.prior = prior_of(v, Axis::second, settings);
  options.sessions_min = settings.sessions_min;
  return options;
}

double margin_of(const SideKey& key, const std::string& benchmark, const CompareSettings& settings) {
  const auto exact = settings.margins.find(benchmark + ":" + key.metric);
  if (exact != settings.margins.end()) return exact->second;
  const auto by_name = settings.margins.find(key.metric);
  return by_name != settings.margins.end() ? by_name->second : settings.margin.value_or(default_margin);
}

double allowed_change(double margin, Better better) {
  return better == Better::higher ? -std::log1p(-margin) : std::log1p(margin);
}

double MetricVerdict::allowed() const { return allowed_change(margin, better); }
double MetricVerdict::effect() const {
  return estimate ? stats::relative_change(estimate->worse, better) : std::nan("");
}
std::pair<double, double> MetricVerdict::interval() const {
  if (!estimate) return {std::nan(""), std::nan("")};
  const double a = stats::relative_change(estimate->low, better);
  const double b = stats::relative_change(estimate->high, better);
  return {std::min(a, b), std::max(a, b)};
}
double MetricVerdict::detectable() const {
  return estimate ? std::fabs(stats::relative_change(estimate->detectable, better)) : std::nan("");
}

Verdicts verdicts_on(const Side& before, const Side& after, const CompareSettings& settings) {
  Verdicts verdicts;
  for (const auto& [key, metric] : before.metrics)
    verdicts.metrics.push_back(verdict_on(key, metric, before, after, settings));
  add_unmeasured_before(before, verdicts.metrics);
  add_wrong_after(before, after, verdicts.metrics);
  verdicts.nodes = over_devices(before, after, settings);
  return verdicts;
}

CompareResult compare(const Side& before, const Side& after, const std::vector<EnvironmentChange>& environment,
                      const CompareSettings& settings) {
  return conclude(verdicts_on(before, after, settings), before, after, environment, settings);
}

CompareResult conclude(Verdicts verdicts, const Side& before, const Side& after,
                       const std::vector<EnvironmentChange>& environment, const CompareSettings& settings) {
  CompareResult result;
  result.environment = environment;
  if (settings.baseline) {
    result.prior_class = settings.baseline->class_id;
    result.prior_source = settings.baseline_source;
  }
  result.simulated = before.simulated || after.simulated;
  result.test_knobs = before.test_knobs;
  result.test_knobs.insert(after.test_knobs.begin(), after.test_knobs.end());
  result.metrics = std::move(verdicts.metrics);
  result.nodes = std::move(verdicts.nodes);
  for (const auto& [key, metric] : after.metrics)
    if (before.metrics.count(key) == 0) result.only_after.push_back(key);
  result.control = control_shift(result.metrics);
  result.reason = tell_common_changes(result.metrics, before, after, settings);
  std::string refused = refusal(environment);
  for (const std::string& id : before.run_ids)
    if (std::find(after.run_ids.begin(), after.run_ids.end(), id) != after.run_ids.end())
      refused = fmt::format("run {} stands on both sides: it can't differ from itself", id);
  for (const auto& [key, metric] : before.metrics)
    if (const auto same = after.metrics.find(key);
        same != after.metrics.end() && stats::holds_copies(samples_of(metric), samples_of(same->second)))
      refused = fmt::format("{} {} has the same samples on both sides: a measurement can't be held against itself",
                            key.case_name, key.metric);
  if (before.simulated != after.simulated) refused = "one side is simulated and the other is not";
  if (!refused.empty()) {
    for (std::vector<MetricVerdict>* list : {&result.metrics, &result.nodes})
      for (MetricVerdict& v : *list)
        if (v.verdict != Outcome::fail && v.verdict != Outcome::error &&
            (v.verdict != Outcome::not_run || !has_device(after, v.key.device))) {
          v.verdict = Outcome::inconclusive;
          v.reason = "not comparable";
        }
    result.reason = refused;
    result.refused = true;
  }
  adjust_for_many(result.metrics);
  sort_worst_first(result.metrics);
  sort_worst_first(result.nodes);
  result.verdict = result.metrics.empty() ? Outcome::inconclusive : last_word(result.metrics);
  // The devices together can show what none of them shows alone.
  if (code(result.verdict) != exit_code::fail && !result.nodes.empty() &&
      code(last_word(result.nodes)) == exit_code::fail)
    result.verdict = last_word(result.nodes);
  if (result.metrics.empty() && refused.empty()) result.reason = "BEFORE has no metric to compare";
  if (!result.test_knobs.empty() && code(result.verdict) == exit_code::pass) {
    result.verdict = Outcome::inconclusive;
    result.reason = "measured with test knobs: nothing is passed on that";
  }
  return result;
}

void add_margin(const std::string& text, CompareSettings& settings) {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
  const bool has_unit = !number.empty() && number.back() == '%';
  if (has_unit) number.pop_back();
  double percent = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), percent);
  const bool whole = read.ec == std::errc() && read.ptr == number.data() + number.size();
  if (!has_unit || !whole || !(percent >= 0.01) || percent > 50 || (equals != std::string::npos && name.empty()))
    throw UsageError(fmt::format("--margin {}: a margin is a percentage from 0.01 to 50, such as 1% or bandwidth=1.5%",
                                 plain(text)));
  if (name.empty() ? settings.margin.has_value() : settings.margins.count(name) != 0)
    throw UsageError(fmt::format("--margin {}: a margin for {} is given twice", plain(text),
                                 name.empty() ? "all metrics" : plain(name)));
  if (name.empty())
    settings.margin = percent / 100;
  else
    settings.margins[name] = percent / 100;
}

void check_margins(const CompareSettings& settings, const Side& before) {
  std::set<std::string> known;
  for (const auto& [key, metric] : before.metrics) {
    known.insert(key.metric);
    known.insert(metric.benchmark + ":" + key.metric);
  }
  for (const auto& [name, margin] : settings.margins)
    if (known.count(name) == 0)
      throw UsageError(fmt::format("--margin {}: BEFORE has no such metric{}", plain(name),
                                   suggestion(name, {known.begin(), known.end()})));
}

}  // namespace assay
