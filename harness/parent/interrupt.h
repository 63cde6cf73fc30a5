// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its relatives: the only place where a signal handler writes.
#pragma once

namespace assay {

// SIGINT, SIGTERM and SIGHUP while one lives: remembered, and poll() wakes up. A SIGHUP that was ignored before stays
// so: that is what nohup is for. Afterwards everything is as it was. Only one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static int count();    // signals so far
  static int last();     // the latest signal
  static int wake_fd();  // readable after a signal
};

}  // namespace assay
