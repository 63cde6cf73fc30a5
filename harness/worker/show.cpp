// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See show.h. Traps: numbers of multiprocessors may have gaps, so there is room for more than a device says it has;
// memory is asked for until the driver refuses, and a little stays free for it; a launch that failed leaves nothing
// behind, so each stands in timed(), which would throw.
#include "harness/worker/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/base/text.h"
#include "kernels/compare.h"
#include "kernels/fill.h"
#include "kernels/fma.h"
#include "kernels/sm_clock.h"

namespace assay {
namespace {

using kernels::Backend;
using kernels::Exec;

constexpr const char* no_kernel = "this build has no kernel for it on this device";

int capability(const Accelerator& device) { return static_cast<int>(device.info().fact("capability")); }

ShownFact multiprocessors(Accelerator& device) {
  constexpr std::size_t room = 4096;
  constexpr int rounds = 50;
  const auto* ops = kernels::sm_clock_ops(Backend::cuda, capability(device));
  if (ops == nullptr) throw Error(no_kernel);
  auto* stamps = static_cast<kernels::SmClockStamp*>(device.allocate(room * sizeof(kernels::SmClockStamp)));
  std::set<std::size_t> seen;
  int round = 0;
  for (; round < rounds && static_cast<double>(seen.size()) < device.info().fact("multiprocessors"); ++round) {
    device.fill(stamps, 0, room * sizeof *stamps);
    device.timed([&] { ops->stamp({1, device.stream()}, stamps, room); });
    std::vector<kernels::SmClockStamp> found(room);
    device.read(found.data(), stamps, room * sizeof *stamps);
    for (std::size_t i = 0; i < room; ++i)
      if (found[i].ns != 0) seen.insert(i);
  }
  return {"multiprocessors", static_cast<double>(seen.size()),
          fmt::format("by the numbers that blocks tell, {} of launches", counted(round, "round"))};
}

// Hertz between two sets of stamps: the median of the multiprocessors; 0: none has both.
double clock_between(const std::vector<ClockStamp>& before, const std::vector<ClockStamp>& after) {
  std::vector<double> hertz;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i].ns != 0 && after[i].ns > before[i].ns)
      hertz.push_back(static_cast<double>(after[i].cycles - before[i].cycles) /
                      static_cast<double>(after[i].ns - before[i].ns) * 1e9);
  if (hertz.empty()) return 0;
  std::nth_element(hertz.begin(), hertz.begin() + static_cast<std::ptrdiff_t>(hertz.size() / 2), hertz.end());
  return hertz[hertz.size() / 2];
}

ShownFact f32_lanes(Accelerator& device) {
  const auto* ops = kernels::fma_ops(Backend::cuda, capability(device));
  if (ops == nullptr || ops->f32 == nullptr) throw Error(no_kernel);
  const auto& row = *ops->f32;
  const double processors = device.info().fact("multiprocessors");
  const double threads = device.info().fact("threads_per_multiprocessor");
  const int blocks = std::max(1, static_cast<int>(processors * threads / 256));
  const std::size_t n = row.elements * static_cast<std::size_t>(blocks);
  const auto array = [&](std::size_t size, float value) {
    const std::vector<float> values(size, value);
    auto* there = static_cast<float*>(device.allocate(size * sizeof(float)));
    device.write(there, values.data(), size * sizeof(float));
    return there;
  };
  const float *x = array(n, 0.75F), *a = array(row.lanes, -1), *b = array(row.lanes, 0.5F);
  auto* sums = static_cast<std::uint32_t*>(device.allocate(n * sizeof(std::uint32_t)));
  const auto seconds_of = [&](std::size_t passes) {
    return device.timed([&] { row.run({blocks, device.stream()}, passes, x, a, b, sums); });
  };
  constexpr double long_enough_s = 0.02;
  seconds_of(1);
  const std::size_t passes =
      device.info().simulated ? 1 : static_cast<std::size_t>(std::clamp(long_enough_s / seconds_of(1), 1.0, 1e6));
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const std::vector<ClockStamp> before = device.stamps();
    const double seconds = seconds_of(passes);
    const double hertz = clock_between(before, device.stamps());
    if (hertz <= 0) throw Error("no multiprocessor told its clock");
    const double steps = static_cast<double>(n) * static_cast<double>(kernels::fma_steps) * static_cast<double>(passes);
    best = std::max(best, steps / seconds / hertz / processors);
  }
  return {"f32_lanes", best, "the best of 5 samples, by the clock beside each and the multiprocessors it says it has"};
}

struct Piece {
  std::uint64_t* begin;
  std::size_t words;
};

// As much as the driver gives, in pieces.
std::vector<Piece> take_all(Accelerator& device) {
  constexpr std::size_t largest = std::size_t{1} << 30, smallest = std::size_t{1} << 20, unit = 4096;
  const std::uint64_t free = device.free_bytes(),
                      kept_free = std::min<std::uint64_t>(std::uint64_t{512} << 20, free / 16);
  std::vector<Piece> pieces;
  std::size_t left = (free - kept_free) / unit * unit, size = largest;
  while (left > 0 && size >= smallest) {
    const std::size_t bytes = std::min(left, size);
    try {
      pieces.push_back({static_cast<std::uint64_t*>(device.allocate(bytes)), bytes / sizeof(std::uint64_t)});
      left -= bytes;
    } catch (const DeviceError& error) {
      if (error.lasting()) throw;
      size /= 2;
    }
  }
  return pieces;
}

std::vector<ShownFact> memory(Accelerator& device) {
  const auto* filling = kernels::fill_ops(Backend::cuda, capability(device));
  const auto* comparing = kernels::compare_ops(Backend::cuda, capability(device));
  if (filling == nullptr || comparing == nullptr) throw Error(no_kernel);
  const Exec exec{1, device.stream()};
  auto* report = static_cast<kernels::MismatchReport*>(device.allocate(sizeof(kernels::MismatchReport)));
  const std::vector<Piece> pieces = take_all(device);
  std::uint64_t number = 0;
  for (const Piece& piece : pieces) device.timed([&] { filling->u64(piece.begin, piece.words, {1, number++}, exec); });
  kernels::MismatchReport all;
  number = 0;
  for (const Piece& piece : pieces) {
    kernels::MismatchReport found;
    device.write(report, &found, sizeof found);
    device.timed([&] { comparing->u64(piece.begin, piece.words, {1, number++}, report, exec); });
    device.read(&found, report, sizeof found);
    if (found.compared != piece.words) throw Error("a comparison did not look at all of its memory");
    all.compared += found.compared;
    all.mismatches += found.mismatches;
  }
  const std::string how = fmt::format("numbers that differ in each place, in {}, all written before the first was read",
                                      counted(pieces.size(), "piece"));
  const auto bytes = [](std::uint64_t words) { return static_cast<double>(words * sizeof(std::uint64_t)); };
  return {{"memory_tested_bytes", bytes(all.compared), how}, {"memory_wrong_bytes", bytes(all.mismatches), how}};
}

// What `measure` finds, or these names with the reason.
void add(std::vector<ShownFact>* facts, Accelerator& device, const std::vector<std::string>& names,
         const std::function<std::vector<ShownFact>()>& measure) {
  try {
    for (ShownFact& fact : measure()) facts->push_back(std::move(fact));
  } catch (const std::exception& problem) {
    for (const std::string& name : names) facts->push_back({name, std::nullopt, problem.what()});
  }
  device.free_all();
}

}  // namespace

std::vector<ShownFact> show_facts(Accelerator& device) {
  std::vector<ShownFact> facts;
  add(&facts, device, {"multiprocessors"}, [&] { return std::vector{multiprocessors(device)}; });
  add(&facts, device, {"f32_lanes"}, [&] { return std::vector{f32_lanes(device)}; });
  add(&facts, device, {"memory_tested_bytes", "memory_wrong_bytes"}, [&] { return memory(device); });
  return facts;
}

}  // namespace assay
