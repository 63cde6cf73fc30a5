// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Throttling, decay and sudden drops inside one run: a CUSUM (Page 1954) on blocks of throughput, against the first
// blocks of the same run.
//
// Input: logs of throughput (for times: minus their logs), so down is worse; one value for each block, or evenly spaced
// samples that watch() puts into blocks. Blocks should be long enough that neighbours hardly resemble each other
// (block_length() in serial.h): at a lag-1 correlation of 0.5 false alarms come 50 times as often.
// Traps: the load must be stationary, or its phases look like faults. A change at the same place in every run is the
// load. The machine may be slow from the start: only a reference from elsewhere shows that.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::stats {

struct ChangeOptions {
  std::size_t reference_blocks = 12;
  double smallest = 0.01;       // as a share; smaller drops raise no alarm
  double threshold = 8;         // of the sum, in standard deviations of a block
  double allowance = 0.5;       // least allowance in each step, in the same unit
  double spread_floor = 0.001;  // no series is taken to be quieter than this (logs)
  double widening = 1;          // of the spread, at least 1: what neighbours that resemble each other ask for
};

struct Alarm {
  std::size_t start = 0;  // the block in which the change began
  std::size_t alarm = 0;  // the block that raised the alarm
  double shift = 0;       // mean of the blocks start..alarm minus the reference, in logs; negative
  bool sudden = false;    // at least 2/3 of the drop came within two blocks; else it came gradually
};

struct ChangeResult {
  double reference = 0;  // median of the reference blocks (logs)
  double spread = 0;     // robust standard deviation of a block
  std::optional<Alarm> alarm;
};
// m, s from the reference blocks alone (a spread from the whole series would let periodic throttling hide itself): m
// the median, s = 1.25 max(scaled MAD, scaled MAD of differences / sqrt 2, floor). S_i = max(0, S_{i-1} - (b_i - m) / s
// - k), k = max(allowance, smallest / 2 s) + 1.25 / sqrt(reference_blocks), the last term for the error of m. Alarm:
// S_i above the threshold, and the mean since the change began below -smallest and beyond 3 standard errors. nullopt:
// no block beyond the reference. Values that aren't finite are Errors.
std::optional<ChangeResult> detect_drop(std::span<const double> blocks, const ChangeOptions& options = {});

// Warm-up: everything up to the end of the first 10 blocks in a row that are level (Theil-Sen slope below 0.1 % a
// block, or not to be told from 0 at 95 %). What is level on average still carries the end of a warm-up in its first
// blocks, which as reference would make 1 % false alarms. Returns the first block after them. nullopt: never level.
std::optional<std::size_t> steady_start(std::span<const double> blocks);

struct Blocks {
  std::vector<double> mean, low;  // low: the 20 % quantile of the block, which shows short dips that the mean hides
};
// An incomplete last block is left out. per_block is at least 1.
Blocks blocks_of(std::span<const double> values, std::size_t per_block);

struct Watch {
  std::size_t first_block = 0;  // blocks before it were warm-up
  ChangeResult means, lows;     // lows: with twice `smallest`. Block numbers in both count from the start of the series
  bool alarm() const { return means.alarm || lows.alarm; }
};
// Both detectors on evenly spaced samples, after steady_start() of the means. nullopt: the series is never steady or
// ends with the reference.
std::optional<Watch> watch(std::span<const double> values, std::size_t per_block, const ChangeOptions& options = {});

}  // namespace assay::stats
