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

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_count = 0;
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Error("cannot make a pipe");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) set_handler(signal, on_signal);
  set_handler(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) set_handler(signal, SIG_DFL);
  for (int& fd : wake_pipe) close(std::exchange(fd, -1));
}

int InterruptGuard::count() { return signal_count; }
int InterruptGuard::last() { return last_signal; }
int InterruptGuard::wake_fd() { return wake_pipe[0]; }

}  // namespace assay
