// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cells.h.
#include "tests/aa_bench/cells.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "harness/stats/multiple.h"
#include "harness/stats/session.h"

namespace assay::aa_bench {
namespace {

// First part of a generator's name, so that no two uses share numbers.
enum Use : std::uint64_t { use_cell, use_clock, use_suite, use_session_sd };

std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0;
  for (char c : name) hash = scramble(hash ^ static_cast<unsigned char>(c));
  return hash;
}

Answer judge_one(const Tool& tool, const Family& family, double effect, double session_sd, Random& random) {
  Trial trial;
  trial.before = make_side(family, tool.design, Place::before, 0, random);
  trial.after = make_side(family, tool.design, Place::after, effect, random);
  trial.session_sd = session_sd;
  return tool.judge(trial, random);
}

std::size_t pairs_for(const Tool& tool, const Settings& settings) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(tool.share * static_cast<double>(settings.pairs)));
}

std::vector<double> session_sds(const Settings& settings) {
  std::vector<double> sds(families.size());
  parallel_for(families.size(), settings.threads,
               [&](std::size_t f) { sds[f] = true_session_sd(families[f], settings.seed); });
  return sds;
}

}  // namespace

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void Tally::add(const Answer& answer) {
  ++pairs;
  worse += answer.call == Call::worse;
  better += answer.call == Call::better;
  changed += answer.call == Call::changed;
  unknown += answer.call == Call::unknown;
  passes += answer.passes;
  sessions += answer.sessions;
}

const Tally& Cells::at(std::size_t family, double effect) const {
  const auto found = std::find(effects.begin(), effects.end(), effect);
  return by_family[family].at(static_cast<std::size_t>(found - effects.begin()));
}

std::vector<Cells> judge_pairs(const std::vector<Tool>& tools, const Settings& settings) {
  const std::vector<double> sds = session_sds(settings);
  std::vector<Cells> cells;
  for (const Tool& tool : tools)
    cells.push_back({tool, std::vector(families.size(), std::vector<Tally>(effects.size())), {}});
  constexpr std::size_t per_tool = families.size() * effects.size();
  parallel_for(tools.size() * per_tool, settings.threads, [&](std::size_t i) {
    const std::size_t t = i / per_tool, f = i % per_tool / effects.size(), e = i % effects.size();
    Tally& tally = cells[t].by_family[f][e];
    for (std::size_t pair = 0; pair < pairs_for(tools[t], settings); ++pair) {
      Random random(settings.seed, {use_cell, name_hash(tools[t].name), f, e, pair});
      tally.add(judge_one(tools[t], families[f], effects[e], sds[f], random));
    }
  });
  return cells;
}

Tally judge_clock(const Tool& tool, const Settings& settings) {
  Tally tally;
  for (std::size_t pair = 0; pair < pairs_for(tool, settings); ++pair) {
    Random random(settings.seed, {use_clock, name_hash(tool.name), pair});
    tally.add(judge_one(tool, clock_family, 0.01, 0, random));
  }
  return tally;
}

Suites judge_suites(const Tool& tool, bool with_epoch, const Settings& settings) {
  constexpr std::size_t metrics = 60;
  const std::vector<double> sds = session_sds(settings);
  std::vector<std::size_t> members;
  for (std::size_t f = 0; f < families.size(); ++f)
    if (with_epoch || families[f].noise != Noise::epoch) members.push_back(f);
  Suites result;
  result.suites = pairs_for(tool, settings);
  std::vector<char> any(result.suites), adjusted(result.suites);
  parallel_for(result.suites, settings.threads, [&](std::size_t suite) {
    std::vector<double> p_values;
    std::vector<bool> worse;
    for (std::size_t m = 0; m < metrics; ++m) {
      const std::size_t f = members[m % members.size()];
      Random random(settings.seed, {use_suite, name_hash(tool.name), with_epoch, suite, m});
      const Answer answer = judge_one(tool, families[f], 0, sds[f], random);
      any[suite] |= answer.call != Call::same && answer.call != Call::unknown;
      p_values.push_back(answer.p);
      worse.push_back(answer.call == Call::worse);
    }
    const std::vector<double> by_all = stats::benjamini_hochberg(p_values);
    for (std::size_t m = 0; m < metrics; ++m) adjusted[suite] |= worse[m] && by_all[m] <= 0.05;
  });
  result.any = static_cast<std::size_t>(std::count(any.begin(), any.end(), 1));
  result.adjusted = static_cast<std::size_t>(std::count(adjusted.begin(), adjusted.end(), 1));
  return result;
}

double true_session_sd(const Family& family, std::uint64_t seed) {
  constexpr std::size_t sessions = 4000;
  Random random(seed, {use_session_sd, name_hash(std::string(family.name))});
  double mean = 0, squares = 0;
  const Side side = make_side(family, {sessions, 20, true}, Place::before, 0, random);
  for (std::size_t s = 0; s < sessions; ++s) {
    std::vector<double> cycles = side.times[s];
    for (std::size_t i = 0; i < cycles.size(); ++i) cycles[i] *= side.clocks[s][i];
    const double value = stats::session_of(cycles)->log_value;
    const double delta = value - mean;
    mean += delta / static_cast<double>(s + 1);
    squares += delta * (value - mean);
  }
  return std::sqrt(squares / (sessions - 1));
}

}  // namespace assay::aa_bench
