// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The four references of accept.h, each on its own. Limits are held against the interval of the device's own sessions:
// PASS when all of it is inside, FAIL when none is, else INCONCLUSIVE.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/stats/fleet.h"
#include "harness/verdict/accept.h"

namespace assay {

// Mean of the sessions' log values.
double mean_log(const std::vector<stats::Session>& sessions);

Reference against_physical_limit(const AcceptedMetric& m, const std::optional<double>& bound);

// What the device's class can do at most, for records that carry no limit of their own (imported ones).
std::optional<double> limit_of_class(const AcceptedMetric& m, const AcceptedDevice* device);

// The class's tolerance limit on both axes. PROVISIONAL by fewer than 8 devices.
Reference against_class(const SideMetric& metric, const AcceptedMetric& m, const AcceptedDevice* device,
                        const AcceptSettings& settings);

// What one axis of a metric says of the devices of a class, by identity.
struct PeersOnAxis {
  std::size_t devices = 0;
  std::map<std::string, stats::SeenStraggler> seen;
};

// The devices of a run, each among those of its class, on both axes. Who stands out was seen once, and that is
// INCONCLUSIVE; FAIL takes two of two: it stands out in the odd sessions and in the even ones, measured apart. All are
// looked at once, so that a fleet costs no square of its size.
class Fleet {
 public:
  // `devices` must outlive it.
  Fleet(const Side& side, const std::vector<AcceptedDevice>& devices);
  const AcceptedDevice* find(const std::string& identity) const;  // nullptr: not in the run
  Reference against_peers(const AcceptedMetric& m) const;

 private:
  using Metric = std::array<std::string, 4>;  // class, case, metric, series
  struct Peers {
    PeersOnAxis second, cycle;
    bool once = false;  // a device has one session only
  };
  std::map<std::string, const AcceptedDevice*> devices_;
  std::map<Metric, Peers> peers_;
};

// What the device itself gave before (`history` may be null): the tolerance limit of its earlier sessions, with the
// same coverage and confidence as a class's, never closer than the floor, on either axis: sessions of a few boots don't
// tell what the next boot changes. PROVISIONAL by fewer than 8 sessions, UNKNOWN by fewer than 3.
Reference against_history(const SideMetric& metric, const AcceptedMetric& m, const Side* history,
                          const AcceptSettings& settings);

}  // namespace assay
