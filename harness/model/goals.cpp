// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels are meant to reach where a GPU is at hand, and whether model and machine code forbid it. "Not
// forbidden" is no promise: it says that no limit that is known lies below the goal. Only what was built counts: plans, and
// kernels without machine code that the class runs, reach nothing. One row of goals() is one goal.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/model/device_model.h"

namespace assay::model {
namespace {

constexpr double most_of_the_peak = 0.97, ampere_share = 0.90;

// The best of several rates (of equal ones the last: versions go from naive to best), and what bounds it. `complete`:
// every limit of it is known. `built`: there is machine code of one of them.
struct Best {
  std::string of, bound;
  double rate = 0;
  bool complete = false, spills = false, built = false;
};

Best better(Best best, const std::string& of, const std::vector<Ceiling>& ceilings, const KernelFacts* facts) {
  if (best.of.empty()) best.of = of;
  if (facts == nullptr || !facts->known()) return best;
  best.built = true;
  const Ceiling* bound = binding(ceilings);
  if (bound == nullptr || *bound->rate < best.rate) return best;
  const bool complete =
      std::all_of(ceilings.begin(), ceilings.end(), [](const Ceiling& c) { return c.rate.has_value(); });
  return {of, bound->name, *bound->rate, complete, facts->local_bytes > 0, true};
}

const Band* band_of(const Page& page, const std::string& operation, const std::string& type) {
  for (const BandModel& b : page.bands)
    if (b.band.operation == operation && b.band.type == type) return &b.band;
  return nullptr;
}

const char* const not_built = "not built here: no machine code of it that this capability runs";

// rate >= least, in words. `basis`: what `least` is.
Goal judged(std::string text, const Best& best, double least, const std::string& unit, const std::string& basis) {
  Goal goal{std::move(text), Allowed::unknown, ""};
  if (best.rate == 0) {
    goal.why = best.built ? "no rate of the model is known" : not_built;
    return goal;
  }
  const std::string rate = fmt::format("{}: at most {} by {}", best.of, format_quantity(best.rate, unit), best.bound);
  const std::string bar = fmt::format("{} is {}", basis, format_quantity(least, unit));
  if (best.spills) {
    goal.allowed = Allowed::forbidden;
    goal.why = best.of + " keeps registers in memory";
  } else if (best.rate < least) {
    goal.allowed = Allowed::forbidden;
    goal.why = rate + "; " + bar;
  } else {
    goal.allowed = Allowed::not_forbidden;
    goal.why = rate + "; " + bar + (best.complete ? "" : "; not all of its limits are known");
  }
  return goal;
}

// Copy and triad at least as fast as the best of the peers: they can't be faster than DRAM either.
std::vector<Goal> stream_goals(const DeviceModel&, const Page& page) {
  std::vector<Goal> goals;
  for (const char* operation : {"copy", "triad"}) {
    Best best;
    for (const KernelModel& k : page.kernels)
      if (k.work.operation == operation && k.work.type == "f64")
        best = better(best, k.work.version, k.ceilings, &k.facts);
    const std::string text =
        fmt::format("{} of f64 >= 1.00 x the best of BabelStream, nvbandwidth and gpu-benches", operation);
    const Band* band = band_of(page, operation, "f64");
    if (band == nullptr) {
      Goal goal{text, Allowed::unknown, best.built ? "no published figure of this class" : not_built};
      if (best.bound == "DRAM" && !best.spills && best.complete) {
        goal.allowed = Allowed::not_forbidden;
        goal.why = fmt::format("{}: bound by DRAM alone, as peers are; no published figure of this class", best.of);
      }
      goals.push_back(goal);
    } else {
      goals.push_back(judged(text, best, band->max, "B/s", "the best published"));
    }
  }
  return goals;
}

std::vector<Goal> gemm_goals(const DeviceModel& device, const Page& page) {
  const std::string family = family_of(device.gpu.compute_capability);
  if (device.gpu.compute_capability != "8.0" && family != "hopper") return {};
  const double share = family == "hopper" ? 1 : ampere_share;
  std::vector<Goal> goals;
  for (const double n : {4096.0, 8192.0}) {
    Best best;
    for (const TileModel& t : page.tiles)
      if (t.n == n && t.tile.type == "bf16")
        best = better(best, fmt::format("{}, {:.0f} stages", t.tile.version, t.tile.stages), t.ceilings,
                      t.facts ? &*t.facts : nullptr);
    const std::string text = fmt::format("bf16 at {0:.0f}^3 >= {1:.2f} x cuBLASLt", n, share);
    const Band* band = band_of(page, "", "16-bit");
    if (band == nullptr)
      goals.push_back({text, Allowed::unknown, best.built ? "no published figure of this class" : not_built});
    else
      goals.push_back(judged(text, best, share * band->max, "FLOP/s",
                             fmt::format("{:.2f} x the best published (any library, any size)", share)));
  }
  return goals;
}

// Why the first of its limits that isn't known isn't.
std::string first_unknown(const Page& page, const std::string& type) {
  for (const KernelModel& k : page.kernels)
    for (const Ceiling& c : k.ceilings)
      if (k.work.type == type && !c.rate) return c.how;
  return "";
}

// Of GpuClass::operations_per_second.
std::string peak_of(const std::string& type) {
  if (type == "f64") return "f64_tensor";
  if (type == "e4m3") return "fp8";
  return type == "e2m1" ? "fp4" : type;
}

std::vector<Goal> mma_goals(const DeviceModel& device, const Page& page) {
  std::vector<Goal> goals;
  for (const char* type : {"bf16", "f16", "tf32", "f64", "int8", "e4m3", "e2m1"}) {
    Best best;
    const std::string name = peak_of(type);
    for (const KernelModel& k : page.kernels)
      if (k.work.type == type) best = better(best, k.work.version, k.ceilings, &k.facts);
    const auto peak = device.gpu.operations_per_second.find(name);
    if (best.of.empty() || peak == device.gpu.operations_per_second.end()) continue;
    goals.push_back(judged(fmt::format("{} in registers >= {:.2f} of the tensor peak", type, most_of_the_peak), best,
                           most_of_the_peak * peak->second, "FLOP/s",
                           fmt::format("{:.2f} of the peak", most_of_the_peak)));
    // A rate that only the peak bounds says nothing while what the instruction reaches isn't known.
    Goal& goal = goals.back();
    if (goal.allowed == Allowed::not_forbidden && !best.complete && best.bound == "tensor cores") {
      goal.allowed = Allowed::unknown;
      goal.why = first_unknown(page, type);
    }
  }
  return goals;
}

}  // namespace

std::string_view word(Allowed allowed) {
  switch (allowed) {
    case Allowed::not_forbidden:
      return "not forbidden";
    case Allowed::forbidden:
      return "forbidden";
    case Allowed::unknown:
      return "unknown";
  }
  return "";
}

std::vector<Goal> goals_of(const DeviceModel& device, const Page& page) {
  if (page.benchmark == "memory/stream") return stream_goals(device, page);
  if (page.benchmark == "compute/gemm") return gemm_goals(device, page);
  if (page.benchmark == "compute/mma") return mma_goals(device, page);
  return {};
}

}  // namespace assay::model
