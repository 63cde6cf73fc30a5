// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which device is slower than the others of its class (detect.h). A candidate stands out in the mean of its sessions
// (stats/fleet.h), per second or per cycle; how much it is slower is said against the median of the others alone.
// It is certain only when two halves of the sessions, the odd and the even ones, each show it: sessions are fresh
// processes, and several runs give more of them. Reliability (split_half_reliability) is not asked for: among healthy
// devices that are all alike it is near 0, and one slow device hardly lifts it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/device/identity.h"
#include "harness/stats/fleet.h"
#include "harness/stats/session.h"
#include "harness/verdict/detect.h"
#include "harness/verdict/detect_text.h"

namespace assay {
namespace {

constexpr std::size_t fewest_peers = 3;

// The class as far as devices tell it themselves: like is compared with like, and no table is needed.
std::string class_of_device(const DeviceInfo& device) {
  std::string text = device.kind + " " + device.name;
  for (const char* label : {"class", "device_class", "form_factor"})
    if (const auto at = device.labels.find(label); at != device.labels.end()) text += " " + at->second;
  return fmt::format("{} {:.0f}", text, device.fact("memory_bytes"));
}

// Which sessions: all of them, or the odd or even ones.
enum class Half { both, odd, even };

std::optional<double> mean_of(const std::vector<double>& sessions, Half half) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < sessions.size(); ++i)
    if (half == Half::both || (i % 2 == 1) == (half == Half::even)) {
      sum += sessions[i];
      ++count;
    }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// Candidates among values by device; empty where fewer than 3 devices have one.
std::vector<stats::Straggler> candidates(const std::vector<std::optional<double>>& values, Better better) {
  std::vector<double> known;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) {
      known.push_back(*values[i]);
      whose.push_back(i);
    }
  std::vector<stats::Straggler> found = stats::stragglers(known, better).value_or(std::vector<stats::Straggler>{});
  for (stats::Straggler& s : found) s.index = whose[s.index];
  return found;
}

bool has(const std::vector<stats::Straggler>& found, std::size_t index) {
  return std::any_of(found.begin(), found.end(), [&](const stats::Straggler& s) { return s.index == index; });
}

// In logs, below 0: slower than the median of the others.
double against_others(const std::vector<std::optional<double>>& values, std::size_t index, Better better) {
  std::vector<double> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i != index && values[i]) others.push_back(*values[i]);
  const double ahead = *values[index] - stats::median(others);
  return better == Better::higher ? ahead : -ahead;
}

}  // namespace

void Detector::add_peer(const Record& record, const MetricResult& metric) {
  if (record.device_set.size() != 1) return;
  const auto device = devices_.find(record.device_set[0]);
  const auto session = stats::session_of(metric.samples);
  if (device == devices_.end() || !session || metric.metric.unit == "B") return;
  PeerGroup& group = peers_[{class_of_device(device->second), record.benchmark, record.case_name, metric.metric.name,
                             metric.series, record.worker}];
  group.better = metric.metric.better;
  Peer& peer = group.devices[device_identity(device->second, record.imported ? "" : host_)];
  peer.run_id = record.run_id;
  peer.id = device->first;
  peer.seconds.push_back(session->log_value);
  if (const auto cycles = stats::session_of(metric.cycle_samples)) peer.cycles.push_back(cycles->log_value);
  for (const Series& series : record.series)
    if (series.label == metric.series)
      for (const Sample& sample : series.samples) {
        ++peer.samples;
        peer.disturbed += (sample.disturbed & foreign_disturbances()) != 0;
      }
}

void Detector::find_stragglers(const PeerKey& key, const PeerGroup& group) {
  if (group.devices.size() < fewest_peers) {
    ++found_.peers_too_few;
    return;
  }
  ++found_.peers_examined;
  const Better better = group.better;
  std::vector<const Peer*> peers;
  for (const auto& [identity, peer] : group.devices) peers.push_back(&peer);
  const auto values = [&](std::vector<double> Peer::*axis, Half half) {
    std::vector<std::optional<double>> of_devices;
    for (const Peer* peer : peers) {
      const bool whole = (peer->*axis).size() == peer->seconds.size();  // an axis that some sessions lack is none
      of_devices.push_back(whole ? mean_of(peer->*axis, half) : std::nullopt);
    }
    return of_devices;
  };
  const auto seconds = values(&Peer::seconds, Half::both), cycles = values(&Peer::cycles, Half::both);
  const auto by_time = candidates(seconds, better), by_cycle = candidates(cycles, better);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const bool in_time = has(by_time, i), in_cycles = has(by_cycle, i);
    if (!in_time && !in_cycles) continue;
    const auto axis = in_time ? &Peer::seconds : &Peer::cycles;
    const bool odd = has(candidates(values(axis, Half::odd), better), i);
    const bool even = has(candidates(values(axis, Half::even), better), i);
    const Peer& peer = *peers[i];
    Finding f;
    f.what = Anomaly::straggler;
    f.suspected = !odd || !even;
    f.run_id = peer.run_id;
    f.device_set = {peer.id};
    f.benchmark = key.benchmark;
    f.case_name = key.case_name;
    f.metric = key.metric;
    f.series = key.series;
    f.looked_in = peer.seconds.size();
    f.seen_in = odd && even ? f.looked_in : 1;
    f.devices = peers.size();
    f.samples = peer.samples;
    f.disturbed = peer.samples > 0 && 4 * peer.disturbed >= peer.samples;
    f.change = std::expm1(against_others(in_time ? seconds : cycles, i, better));
    f.sentence = fmt::format("its {} is {} worse than the median of the {} other devices of its class", key.metric,
                             percent(-f.change), peers.size() - 1);
    if (!in_time) f.sentence += ", per clock cycle: a higher clock hides it";
    if (in_time && cycles[i]) {
      f.clock_change = std::expm1(against_others(seconds, i, better) - against_others(cycles, i, better));
      f.sentence += in_cycles ? ", and per clock cycle too: it is no matter of its clock"
                              : fmt::format("; its clock explains it ({:+.1f} %)", 100 * *f.clock_change);
    }
    f.sentence += !f.suspected ? fmt::format("; seen in both halves of {} sessions", f.looked_in)
                  : f.looked_in == 1
                      ? "; seen in one session only: measure again, in fresh sessions"
                      : fmt::format("; not seen in both halves of {} sessions: measure again", f.looked_in);
    if (f.disturbed)
      f.sentence += "; but something else was at work beside its samples: measure again on a quiet machine";
    found_.findings.push_back(std::move(f));
  }
}

}  // namespace assay
