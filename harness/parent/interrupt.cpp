// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See interrupt.h.
#include "harness/parent/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "harness/base/error.h"

namespace assay {
namespace {

volatile sig_atomic_t signal_count = 0, last_signal = 0;
std::array<int, 2> wake_pipe{-1, -1};

void on_signal(int signal) {
  const int saved = errno;
  signal_count = signal_count + 1;
  last_signal = signal;
  [[maybe_unused]] const ssize_t n = write(wake_pipe[1], "", 1);
  errno = saved;
}

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::array<struct sigaction, watched.size()> before;

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_count = 0;
  last_signal = 0;
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Error("cannot make a pipe");
  for (std::size_t i = 0; i < watched.size(); ++i) {
    sigaction(watched[i], nullptr, &before[i]);
    if (watched[i] == SIGHUP && before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = watched[i] == SIGPIPE ? SIG_IGN : on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(watched[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &before[i], nullptr);
  for (int& fd : wake_pipe) close(std::exchange(fd, -1));
}

int InterruptGuard::count() { return signal_count; }
int InterruptGuard::last() { return last_signal; }
int InterruptGuard::wake_fd() { return wake_pipe[0]; }

}  // namespace assay
