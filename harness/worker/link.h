// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a running case tells the outside and hears from it. Under `assay` this is the protocol; started by hand, nothing
// listens and nothing stops a case early.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace assay {

class Link {
 public:
  virtual ~Link() = default;
  // Set-up is done. With `hold`, waits for `go` and its instant; returns that instant.
  virtual std::optional<std::int64_t> ready() { return std::nullopt; }
  // "setup", "warmup", "measure", "verify": what heartbeats report.
  virtual void phase(const char* /*name*/) {}
  // The latest block, for the live line.
  virtual void window(const std::string& /*metric*/, const std::string& /*unit*/, double /*value*/,
                      double /*seconds*/) {}
  virtual bool stop_requested() const { return false; }
};

}  // namespace assay
