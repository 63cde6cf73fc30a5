// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Scripted faults: what a worker makes of a driver that is absent, old or broken, and of a device that fails on the way.
#include <unistd.h>

#include <cstdlib>

#include "state.h"

namespace assay::simt {
namespace {

struct Script {
  std::string call;  // empty: there is none
  int number = 0;    // 0: it never returns
  unsigned from = 1, to = ~0u, seen = 0;  // of the calls, the first is 1
  bool is_due = false;
};

Script& script() {
  static Script one;
  return one;
}

}  // namespace

bool set_fault(const std::string& text) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  if (colon == std::string::npos || colon == 0 || (at != std::string::npos && at < colon)) return false;
  const std::string what = text.substr(colon + 1, at == std::string::npos ? at : at - colon - 1);
  char* end = nullptr;
  Script made{text.substr(0, colon)};
  if (what != "hang") {
    made.number = static_cast<int>(std::strtol(what.c_str(), &end, 10));
    if (made.number <= 0 || *end != '\0') return false;
  }
  if (at != std::string::npos) {
    const std::string count = text.substr(at + 1);
    made.from = static_cast<unsigned>(std::strtoul(count.c_str(), &end, 10));
    if (*end == '-') made.to = static_cast<unsigned>(std::strtoul(end + 1, &end, 10));
    if (made.from == 0 || made.to < made.from || *end != '\0') return false;
  }
  script() = made;
  return true;
}

void Call::begin_call(const char* name) {
  Script& s = script();
  if (s.call.empty() || s.call != name) return;
  ++s.seen;
  s.is_due = s.from <= s.seen && s.seen <= s.to;
  while (s.is_due && s.number == 0) ::pause();
}

cudaError_t scripted_fault() {
  Script& s = script();
  if (!s.is_due) return cudaSuccess;
  s.is_due = false;
  return static_cast<cudaError_t>(s.number);
}

bool is_lasting(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case 214:
    case 700:
    case 702:
    case 710:
    case 714:
    case 715:
    case 716:
    case 719:
    case 999:
      return true;
    default:
      return false;
  }
}

}  // namespace assay::simt
