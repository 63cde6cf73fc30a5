// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See tools.h.
#include "tests/aa_bench/tools.h"

#include <cmath>
#include <span>

#include "harness/base/outcome.h"
#include "harness/stats/compare.h"
#include "harness/stats/robust.h"
#include "harness/stats/sequential.h"
#include "harness/stats/session.h"

namespace assay::aa_bench {
namespace {

using stats::CompareOptions;
using stats::Session;

std::vector<Session> sessions_of(const Side& side, bool cycles) {
  std::vector<Session> sessions;
  for (std::size_t s = 0; s < side.times.size(); ++s) {
    std::vector<double> values = side.times[s];
    for (std::size_t i = 0; cycles && i < values.size(); ++i) values[i] *= side.clocks[s][i];
    sessions.push_back(*stats::session_of(values));
  }
  return sessions;
}

using Adapt = std::function<void(CompareOptions&, const Trial&, Random&)>;

Tool comparing(std::string name, std::string what, std::size_t sessions, double margin, Adapt adapt = {},
               bool cycles = false) {
  const auto judge = [=](const Trial& trial, Random& random) {
    CompareOptions options;
    options.margin = margin;
    if (adapt) adapt(options, trial, random);
    return answer_of(stats::compare(sessions_of(trial.before, cycles), sessions_of(trial.after, cycles), options));
  };
  return {std::move(name), std::move(what), {sessions, 20, true}, 1, judge};
}

// A prior as a baseline of the class would give it, `times` the true spread.
Adapt prior(double times) {
  return [=](CompareOptions& options, const Trial& trial, Random&) { options.prior = {8, times * trial.session_sd}; };
}

// Three control cases whose sessions differ by 0.1 % were measured beside it: they show the epoch's shift.
void with_controls(CompareOptions& options, const Trial& trial, Random& random) {
  options.control_error = 0.001 * std::sqrt(2.0 / static_cast<double>(trial.before.times.size()) / 3);
  options.control_shift = trial.after.epoch - trial.before.epoch + options.control_error * random.normal();
}

void with_known_epoch(CompareOptions& options, const Trial&, Random&) { options.epoch_sd = 0.004; }

// As `assay run --against` does: BEFORE has its 5 sessions, AFTER gets more until the verdict stands.
Tool looking_often() {
  constexpr std::size_t done = 5, first = 3, cap = 12;
  const std::vector<stats::Look> looks = stats::looks_against(done, 0.01, first, cap);
  const auto judge = [=](const Trial& trial, Random&) {
    const std::vector<Session> before = sessions_of(trial.before, false), after = sessions_of(trial.after, false);
    Answer answer;
    for (std::size_t n = first; n <= cap; ++n) {
      CompareOptions options;
      options.margin = 0.01;
      options.alpha = looks[n - first].alpha;
      options.sessions_min = first;
      const stats::Comparison c = stats::compare(std::span(before).first(done), std::span(after).first(n), options);
      answer = answer_of(c);
      answer.sessions = n;
      const double allowed = std::log1p(options.margin);
      if (c.estimate && (c.estimate->low > allowed || c.estimate->high < allowed)) break;
    }
    return answer;
  };
  return {"assay_sequential", "ours, against 5 sessions, 3 to 12 until decided", {cap, 20, true}, 1, judge};
}

std::vector<double> flat(const std::vector<std::vector<double>>& sessions) {
  std::vector<double> all;
  for (const std::vector<double>& samples : sessions) all.insert(all.end(), samples.begin(), samples.end());
  return all;
}
std::vector<double> medians(const std::vector<std::vector<double>>& sessions) {
  std::vector<double> all;
  for (const std::vector<double>& samples : sessions) all.push_back(stats::median(samples));
  return all;
}
double mean_clock(const Side& side) {
  const std::vector<double> clocks = flat(side.clocks);
  double sum = 0;
  for (double c : clocks) sum += c / static_cast<double>(clocks.size());
  return sum;
}

Answer peer_answer(Call call) { return {call, 1, 1, call == Call::same || call == Call::better}; }

using Rule = Call (*)(Times, Times);
// One process a side, as the tool's documentation shows it.
Tool one_process(std::string name, std::string what, std::size_t samples, double share, Rule rule) {
  const auto judge = [=](const Trial& trial, Random&) {
    return peer_answer(rule(flat(trial.before.times), flat(trial.after.times)));
  };
  return {std::move(name), std::move(what), {1, samples, false}, share, judge};
}
// As many samples as ours has, twice: ten warm processes, the median of each.
Tool ten_processes(std::string name, std::string what, Rule rule) {
  const auto judge = [=](const Trial& trial, Random&) {
    return peer_answer(rule(medians(trial.before.times), medians(trial.after.times)));
  };
  return {std::move(name), std::move(what), {10, 20, true}, 1, judge};
}

}  // namespace

Answer answer_of(const stats::Comparison& c) {
  Answer answer;
  answer.sessions = c.sessions[0];
  answer.passes = code(c.outcome) == exit_code::pass;
  if (c.estimate) answer.p = c.estimate->p_regressed;
  switch (c.outcome) {
    case Outcome::regressed:
      answer.call = Call::worse;
      break;
    case Outcome::improved:
      answer.call = Call::better;
      break;
    case Outcome::no_regression:
      answer.call = Call::same;
      break;
    case Outcome::variance_worse:
    case Outcome::variance_better:
      answer.call = Call::changed;
      break;
    default:  // INCONCLUSIVE, MODE_SWITCH
      answer.call = Call::unknown;
  }
  return answer;
}

Tool ours() { return comparing("assay", "ours, 5 sessions x 20, margin 1 %", 5, 0.01); }
Tool ours_cycles() { return comparing("assay_cycles", "ours, 8 sessions, cycles, margin 0.5 %", 8, 0.005, {}, true); }

std::vector<Tool> variants() {
  return {
      comparing("assay_10", "ours, 10 sessions", 10, 0.01),
      comparing("assay_margin_2", "ours, margin 2 %", 5, 0.02),
      looking_often(),
      comparing("assay_epoch_known", "ours, epoch spread of 0.4 % known", 5, 0.01, with_known_epoch),
      comparing("assay_controls", "ours, with three control cases", 5, 0.01, with_controls),
      comparing("assay_prior", "ours, with a class prior", 5, 0.01, prior(1)),
      comparing("assay_prior_3", "ours, 3 sessions with a class prior", 3, 0.01, prior(1)),
      comparing("assay_prior_half", "ours, a prior half of the truth", 5, 0.01, prior(0.5)),
      comparing("assay_prior_ninth", "ours, a prior a ninth of the truth", 5, 0.01, prior(1.0 / 9)),
  };
}

std::vector<Tool> peers() {
  const auto bootstrap = [](const Trial& trial, Random& random) {
    return peer_answer(criterion(flat(trial.before.times), flat(trial.after.times), random));
  };
  const auto robust = [](const Trial& trial, Random&) {
    return peer_answer(nvbench_robust(flat(trial.before.times), flat(trial.after.times), mean_clock(trial.before),
                                      mean_clock(trial.after)));
  };
  return {
      one_process("compare_py", "Google Benchmark compare.py, 10 repetitions", 10, 1, compare_py),
      ten_processes("compare_py_equal_budget", "compare.py, 10 processes", compare_py),
      one_process("benchstat", "benchstat, count 10", 10, 1, benchstat),
      ten_processes("benchstat_equal_budget", "benchstat, 10 processes", benchstat),
      {"criterion", "criterion.rs, 100 samples, 1000 resamples", {1, 100, false}, 0.3, bootstrap},
      one_process("nvbench_legacy", "nvbench-compare, older rule, 500 samples", 500, 0.5, nvbench_legacy),
      {"nvbench_robust", "nvbench-compare-robust, 500 samples", {1, 500, false}, 0.5, robust},
      one_process("five_percent", "means differ by more than 5 %", 10, 1, five_percent),
      one_process("superbench", "SuperBench variance rule, 5 %", 10, 1, superbench),
  };
}

}  // namespace assay::aa_bench
