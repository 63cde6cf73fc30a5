// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See events.h.
#include "harness/explain/events.h"

#include <algorithm>

#include "harness/base/text.h"

namespace assay::explain {

// Kernel messages about one GPU come in groups of lines of which one names it: "gpu" looks back first, "next" ahead.
void Events::add(Event event, std::string_view line) {
  event.last_line = event.line;
  event.count = 1;
  event.quote = shown(trim(line), 240);
  if (event.device.empty() && event.scope == "section") {
    if (section_.empty()) return;
    event.device = section_;
  }
  if (event.scope == "host") event.device = "host";
  if (!event.device.empty()) {
    if (event.device != "host" && event.device != "-") {
      settle(event.device, event.line);
      mention(event.device, event.line, false);
    }
    return keep(std::move(event));
  }
  const bool seen = !last_device_.empty() && event.line - last_device_line_ <= 2;
  if (event.scope == "gpu" && seen) {
    event.device = last_device_;
    return keep(std::move(event));
  }
  if ((event.scope == "gpu" || event.scope == "next") && waiting_.size() < 64) {
    waiting_.push_back(std::move(event));
    all_kept_ = false;
    return;
  }
  event.device = "-";
  keep(std::move(event));
}

void Events::settle(const std::string& device, std::uint64_t line) {
  for (Event& event : waiting_) {
    const bool ahead = line - event.line <= near;
    const bool behind = !last_device_.empty() && event.line - last_device_line_ <= near;
    event.device = ahead ? device : behind ? last_device_ : "-";
    keep(std::move(event));
  }
  waiting_.clear();
}

void Events::mention(const std::string& device, std::uint64_t line, bool section) {
  settle(device, line);
  if (section) section_ = device;
  last_device_ = device;
  last_device_line_ = line;
  if (devices_.size() < most && known_devices_.insert(device).second) devices_.push_back(device);
}

void Events::keep(Event event) {
  const Key key{event.table, event.code, event.qualifier, event.text, event.device};
  const auto known = known_.find(key);
  if (known != known_.end()) {
    Event& first = events_[known->second];
    if (event.line != first.last_line) ++first.count;
    first.last_line = event.line;
    touched_.push_back(known->second);
    return;
  }
  if (events_.size() >= most) {
    ++dropped_;
    all_kept_ = false;
    return;
  }
  known_.emplace(key, events_.size());
  touched_.push_back(events_.size());
  events_.push_back(std::move(event));
}

void Events::again(const std::vector<std::size_t>& events, std::uint64_t line) {
  for (const std::size_t index : events) {
    Event& event = events_[index];
    if (event.line != line && event.last_line != line) ++event.count;
    event.last_line = line;
    if (event.device == "-" || event.device == "host") continue;
    if (!waiting_.empty()) settle(event.device, line);
    last_device_ = event.device;
    last_device_line_ = line;
  }
}

void Events::finish() {
  for (Event& event : waiting_) {
    const bool behind = !last_device_.empty() && event.line - last_device_line_ <= near;
    event.device = behind ? last_device_ : devices_.size() == 1 ? devices_.front() : "-";
    keep(std::move(event));
  }
  waiting_.clear();
}

}  // namespace assay::explain
