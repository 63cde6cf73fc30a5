// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One among many: which device of a fleet is slower than its peers, and whether a benchmark can tell at all.
// Values are one log value for each device (the mean of its sessions), same metric, same class. Run it on both axes:
// per second and per cycle.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/stats/session.h"

namespace assay::stats {

inline constexpr std::size_t fewest_peers = 3;  // two devices have no majority

struct FleetOptions {
  double z = 4;         // from 16 devices on
  double floor = 0.01;  // share; a smaller excess over the median is nobody's fault
};

struct Straggler {
  std::size_t index = 0;
  double z = 0;       // robust z, positive is worse
  double excess = 0;  // over the median, log on the worse axis
};

// (x - median) / max(scaled MAD, log(1 + floor) / 6) on the worse axis (Iglewicz and Hoaglin 1993; the floor keeps a
// very quiet fleet from making outliers of nothing). Fewer than 3 devices have no majority: an Error.
std::vector<double> robust_z(std::span<const double> log_values, Better better, double floor = 0.01);

// The z above which a device is a candidate. From 16 devices on `z`; below, the scale itself is uncertain: at least the
// quantile of Student's t with N - 1 degrees of freedom at 1 - 0.05 / N.
double straggler_threshold(std::size_t devices, double z = 4);

// Devices beyond the threshold and the floor, worst first. Of healthy fleets of 3 to 16 with a normal spread of 0.3 %
// one in 300 has a candidate, with 1.7 % one in 20 (of 3 or 5 devices one in 11). So they are candidates: rerun them
// beside two random controls in fresh sessions, and only 2 of 2 is a FAIL. nullopt: fewer than 3 devices.
std::optional<std::vector<Straggler>> stragglers(std::span<const double> log_values, Better better,
                                                 const FleetOptions& options = {});

// Every second session, from the first or from the second on, or all of them. What drifts with time falls on both such
// halves alike; of the first and the last sessions, on one.
enum class Half { all, odd, even };
// nullopt: there is none in that half.
std::optional<double> mean_of_half(std::span<const double> sessions, Half half);

struct SeenStraggler : Straggler {
  bool twice = false;  // also by the odd sessions alone and by the even ones alone
};
// Stragglers by the mean of all sessions of each device, worst first, and whether each half shows them again: 2 of 2
// without a rerun. `sessions[device]` are log values; a device without any in a half is not looked at there. Nobody
// where fewer than 3 devices are left.
std::vector<SeenStraggler> seen_stragglers(std::span<const std::vector<double>> sessions, Better better,
                                           const FleetOptions& options = {});

// How well a benchmark tells devices apart: Spearman's correlation over devices between the mean of their odd and the
// mean of their even sessions (split-half reliability, Spearman 1910). Below 0.5 a slow device in one run is not slow
// in the next: leave the benchmark out. `sessions[device]` are log values. nullopt: fewer than 4 devices, a device with
// fewer than 2 sessions, or a half in which all devices are equal.
std::optional<double> split_half_reliability(std::span<const std::vector<double>> sessions);

}  // namespace assay::stats
