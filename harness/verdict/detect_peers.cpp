// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which device is slower than the others of its class (detect.h). A candidate stands out in the mean of its sessions
// (stats/fleet.h), per second or per cycle; how much it is slower is said against the median of the others alone.
// It is certain only when two halves of the sessions, the odd and the even ones, each show it, as in accept: sessions
// are fresh processes, and several runs give more of them. Reliability (split_half_reliability) is not asked for: among
// healthy devices that are all alike it is near 0, and one slow device hardly lifts it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/units.h"
#include "harness/device/identity.h"
#include "harness/stats/fleet.h"
#include "harness/stats/moments.h"
#include "harness/stats/session.h"
#include "harness/verdict/detect.h"
#include "harness/verdict/detect_text.h"

namespace assay {
namespace {

// The class as far as devices tell it themselves: like is compared with like, and no table is needed.
std::string class_of_device(const DeviceInfo& device) {
  std::string text = device.kind + " " + device.name;
  for (const char* label : {"class", "device_class", "form_factor"})
    if (const auto at = device.labels.find(label); at != device.labels.end()) text += " " + at->second;
  return fmt::format("{} {:.0f}", text, device.fact("memory_bytes"));
}

// Log values of the sessions of each device, on one axis; some have none.
using PerDevice = std::vector<std::vector<double>>;

// nullptr: it is none.
const stats::SeenStraggler* find(const std::vector<stats::SeenStraggler>& seen, std::size_t index) {
  const auto found =
      std::find_if(seen.begin(), seen.end(), [&](const stats::SeenStraggler& s) { return s.index == index; });
  return found == seen.end() ? nullptr : &*found;
}

// In logs, below 0: slower than the median of the others; nullopt: it or all of them are without a session here.
std::optional<double> against_others(const PerDevice& axis, std::size_t index, Better better) {
  std::vector<double> others;
  for (std::size_t i = 0; i < axis.size(); ++i)
    if (i != index && !axis[i].empty()) others.push_back(stats::mean_of(axis[i]));
  if (axis[index].empty() || others.empty()) return std::nullopt;
  const double ahead = stats::mean_of(axis[index]) - stats::median(others);
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
  if (group.devices.size() < stats::fewest_peers) {
    ++found_.peers_too_few;
    return;
  }
  ++found_.peers_examined;
  const Better better = group.better;
  std::vector<const Peer*> peers;
  for (const auto& [identity, peer] : group.devices) peers.push_back(&peer);
  PerDevice seconds, cycles;
  for (const Peer* peer : peers) {
    seconds.push_back(peer->seconds);
    const bool whole = peer->cycles.size() == peer->seconds.size();  // an axis that some sessions lack is none
    cycles.push_back(whole ? peer->cycles : std::vector<double>{});
  }
  const auto by_time = stats::seen_stragglers(seconds, better), by_cycle = stats::seen_stragglers(cycles, better);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const stats::SeenStraggler *in_time = find(by_time, i), *in_cycles = find(by_cycle, i);
    if (in_time == nullptr && in_cycles == nullptr) continue;
    const Peer& peer = *peers[i];
    Finding f;
    f.what = Anomaly::straggler;
    f.suspected = !(in_time != nullptr && in_time->twice) && !(in_cycles != nullptr && in_cycles->twice);
    f.run_id = peer.run_id;
    f.device_set = {peer.id};
    f.benchmark = key.benchmark;
    f.case_name = key.case_name;
    f.metric = key.metric;
    f.series = key.series;
    f.looked_in = peer.seconds.size();
    f.seen_in = f.suspected ? 1 : f.looked_in;
    f.devices = peers.size();
    f.samples = peer.samples;
    f.disturbed = peer.samples > 0 && 4 * peer.disturbed >= peer.samples;
    f.change = std::expm1(*against_others(in_time != nullptr ? seconds : cycles, i, better));
    f.sentence = fmt::format("its {} is {} worse than the median of the {} other devices of its class", key.metric,
                             format_percent(f.change), peers.size() - 1);
    if (in_time == nullptr) f.sentence += ", per clock cycle: a higher clock hides it";
    const std::optional<double> per_cycle = against_others(cycles, i, better);
    if (in_time != nullptr && per_cycle) {
      f.clock_change = std::expm1(*against_others(seconds, i, better) - *per_cycle);
      f.sentence += in_cycles != nullptr ? ", and per clock cycle too: it is no matter of its clock"
                                         : fmt::format("; its clock explains it ({})", format_change(*f.clock_change));
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
