// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One session as the statistics see it. Every verdict compares sessions (a fresh process, its own warm-up), never the
// samples of one process: those share whatever that process happened to get.
// Everything is in logs, so a difference is a ratio: log 1.03 is "3 % more", whatever the unit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/better.h"

namespace assay::stats {

struct Session {
  double log_value = 0;     // log of the session's value (time or rate)
  double log_spread = 0;    // mean absolute deviation of its log samples from their median; 0: one sample or all equal
  double log_step = 0;      // smallest difference between unequal samples: the timer's tick where samples tie; 0: none
  std::size_t samples = 1;  // how many samples it stands on
};

// The value of a session is the mean of the middle half of its log samples (interquartile mean): as deaf to spikes and
// disturbed samples as the median up to a quarter of them, but it neither sticks to the timer's ticks nor wastes a
// third of the information. A sample that is not finite and above 0 is an Error. nullopt: no sample. O(n log n).
std::optional<Session> session_of(std::span<const double> samples);

// Are they the same to the ninth digit, and their samples too? Then they are a constant or copies, which no measurement
// gives. Of one session: its samples are, and there are several. false for no session.
bool is_constant(std::span<const Session> sessions);

// What is known of the session-to-session standard deviation (of logs) from earlier runs of the same benchmark on the
// same class, worth `df` degrees of freedom. df 0: nothing is known. Never a constant for everything: with 8 degrees of
// freedom and 5 sessions a prior of half the truth makes 3 false verdicts where 1 is allowed, one of a tenth makes 5.
struct Prior {
  double df = 0;
  double sd = 0;
};

// A mean of sessions with its variance moderated by the prior: s^2 = (df0 s0^2 + sum of squares) / (df0 + df) (Smyth
// 2004), never below what the timer's step alone makes, step^2 / 12.
struct Moderated {
  double mean = 0;  // of one group; of two: second minus first
  double sd = 0;    // of one session
  double df = 0;
  double error = 0;  // standard error of mean
};
// nullopt: no degree of freedom, or no spread at all: every value and every sample the same, whatever the prior says.
// Values that are not finite and a negative prior are Errors.
std::optional<Moderated> moderated_mean(std::span<const Session> sessions, const Prior& prior);
// For two groups the errors are pooled, unless the group with fewer sessions is the noisier one: then each group keeps
// its own variance (Welch 1947, Satterthwaite 1946), as pooling would make the error too small.
std::optional<Moderated> moderated_difference(std::span<const Session> first, std::span<const Session> second,
                                              const Prior& prior);

// The same sessions of several devices as one: session i is the mean over the devices (all of equal count and order),
// so what a session does to all of them stays in the session-to-session spread. An Error if counts differ.
std::vector<Session> mean_over_devices(std::span<const std::vector<Session>> devices);

}  // namespace assay::stats
