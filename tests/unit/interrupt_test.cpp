// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

namespace assay {
namespace {

using Handler = void (*)(int);

Handler handler_of(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

bool readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

TEST(Interrupt, CountsRemembersAndWakes) {
  const InterruptGuard guard;
  EXPECT_EQ(InterruptGuard::count(), 0);
  EXPECT_FALSE(readable(InterruptGuard::wake_fd()));
  std::raise(SIGINT);
  EXPECT_EQ(InterruptGuard::count(), 1);
  EXPECT_EQ(InterruptGuard::last(), SIGINT);
  EXPECT_TRUE(readable(InterruptGuard::wake_fd()));
  std::raise(SIGTERM);
  std::raise(SIGPIPE);  // a worker that is gone
  EXPECT_EQ(InterruptGuard::count(), 2);
  EXPECT_EQ(InterruptGuard::last(), SIGTERM);
}

TEST(Interrupt, OneGuardStartsWhereNothingHappened) {
  {
    const InterruptGuard first;
    std::raise(SIGHUP);
    EXPECT_EQ(InterruptGuard::count(), 1);
  }
  const InterruptGuard second;
  EXPECT_EQ(InterruptGuard::count(), 0);
  EXPECT_FALSE(readable(InterruptGuard::wake_fd()));
}

TEST(Interrupt, AHangUpThatWasIgnoredStaysIgnored) {
  const Handler before = std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    EXPECT_EQ(InterruptGuard::count(), 0);
  }
  EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
  std::signal(SIGHUP, before);
}

TEST(Interrupt, EverythingIsAsBefore) {
  const auto mine = [](int) {};
  const Handler interrupt = std::signal(SIGINT, mine), pipe = std::signal(SIGPIPE, mine);
  const Handler terminate = handler_of(SIGTERM);
  {
    const InterruptGuard guard;
    EXPECT_NE(handler_of(SIGINT), static_cast<Handler>(mine));
    EXPECT_EQ(handler_of(SIGPIPE), SIG_IGN);
  }
  EXPECT_EQ(handler_of(SIGINT), static_cast<Handler>(mine));
  EXPECT_EQ(handler_of(SIGPIPE), static_cast<Handler>(mine));
  EXPECT_EQ(handler_of(SIGTERM), terminate);
  std::signal(SIGINT, interrupt);
  std::signal(SIGPIPE, pipe);
}

}  // namespace
}  // namespace assay
