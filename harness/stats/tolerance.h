// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The limit that a device must keep to belong to its class, learnt from a few reference devices.
// Limits and values are logs of the metric; rates and times both: `better` says which side the limit is on.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/stats/robust.h"
#include "harness/stats/session.h"

namespace assay::stats {

// One-sided normal tolerance factor k: mean + k sd of n values is above `coverage` of the population with `confidence`.
// k = t'(confidence; n - 1, z_coverage sqrt n) / sqrt n, t' the quantile of the noncentral t (Owen 1968; Hahn and
// Meeker, Statistical Intervals, 1991, section 4.4). n from 2 to 10000; above, the limit of normal theory (Natrella
// 1963), which is within 1e-4 of it there. Coverage and confidence lie above 0.5 and below 1. It costs more than a
// comparison does: once for a reference, not once for each device.
double tolerance_factor(std::size_t n, double coverage = 0.99, double confidence = 0.95);

// References to leave out: further than `cut` scaled MADs from the median, in one pass, on both sides. A one-sided or
// repeated trim drags the reference upwards until it fails healthy devices. Indices ascend; none if half of the values
// are equal or fewer than 4 are there.
std::vector<std::size_t> outlying_references(std::span<const double> log_values, double cut = 4);

struct ClassReference {
  std::size_t devices = 0;
  double log_mean = 0;
  double device_sd = 0;  // between devices, in logs
};
struct ClassLimit {
  double log_limit = 0;
  double factor = 0;         // k
  bool by_floor = false;     // the floor is wider than k sd
  bool provisional = false;  // fewer than 8 devices: the caller says PROVISIONAL
};
struct LimitOptions {
  double floor = 0.02;  // no limit closer to the mean than this share
  double coverage = 0.99, confidence = 0.95;
};
// log_mean -/+ max(k device_sd, log(1 + floor)). nullopt: fewer than 3 devices.
std::optional<ClassLimit> class_limit(const ClassReference& reference, Better better, const LimitOptions& options = {});

// Interval of one device's log value from its own sessions: mean -/+ t(1 - alpha, df) s / sqrt S, s moderated by the
// class's session spread. nullopt: no degree of freedom or no spread (see moderated_mean).
std::optional<Interval> device_interval(std::span<const Session> sessions, const Prior& prior, double alpha = 0.01);

// pass: the whole interval keeps the limit; fail: none of it does; inconclusive: it contains the limit.
Outcome against_limit(const Interval& device, const ClassLimit& limit, Better better);

}  // namespace assay::stats
