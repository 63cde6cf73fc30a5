// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What was found in the lines, before it is judged: one event for each fact and device, however often it is repeated,
// so that a storm takes no memory. What an event means is asked at the end, when the context (a container? which GPU?)
// is known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay::explain {

struct Event {
  // From a form: the table and the code in it, as captured. From a text: its index, and an empty table.
  std::string table, code, qualifier, printed;
  int text = -1;
  std::string device;  // "0000:3b:00", "gpu 3", "rank 7", "host" or "-"
  std::string scope;
  std::uint64_t line = 0, last_line = 0, count = 0;
  std::string quote;  // the line, cut
};

class Events {
 public:
  static constexpr std::size_t most = 4096;  // different ones; more are counted
  static constexpr std::uint64_t near = 6;   // lines between a message and the one that names its device

  // What one line leads to: touched() are indices of all() since begin_line().
  void begin_line() {
    touched_.clear();
    all_kept_ = true;
  }
  const std::vector<std::size_t>& touched() const { return touched_; }
  bool all_kept() const { return all_kept_; }  // none waits for its device, none was dropped
  void again(const std::vector<std::size_t>& events, std::uint64_t line);

  void add(Event event, std::string_view line);
  // A device that is named, whatever is said of it. `section`: what follows is about it.
  void mention(const std::string& device, std::uint64_t line, bool section);
  void section(const std::string& device) { section_ = device; }  // "": of nothing that matters
  void context(const std::string& flag) { context_.insert(flag); }
  void finish();  // events that wait for a device get the one that was last named nearby

  const std::vector<Event>& all() const { return events_; }
  const std::vector<std::string>& devices() const { return devices_; }  // in order of mention
  const std::set<std::string>& contexts() const { return context_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string, int, std::string>;
  void keep(Event event);
  void settle(const std::string& device, std::uint64_t line);

  std::vector<std::size_t> touched_;
  bool all_kept_ = true;
  std::vector<Event> events_, waiting_;
  std::map<Key, std::size_t> known_;
  std::vector<std::string> devices_;
  std::set<std::string> known_devices_;
  std::set<std::string> context_;
  std::string section_ = "-", last_device_;
  std::uint64_t last_device_line_ = 0, dropped_ = 0;
};

}  // namespace assay::explain
