// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

#include "harness/base/clock.h"

namespace assay {
namespace {

using testing::ElementsAre;

Child shell(const std::string& script) { return Child("/bin/sh", {"-c", script, "sh"}); }

void wait_for(Child& child) {
  for (int i = 0; i < 1000 && child.running(); ++i) {
    pollfd end{child.exit_fd(), POLLIN, 0};
    poll(&end, 1, 100);
  }
  ASSERT_FALSE(child.running());
}

TEST(Child, MessagesErrorsAndStatus) {
  Child child = shell("echo one >&3; echo noise; echo more >&2; printf two >&3; exit 5");
  wait_for(child);
  std::vector<std::string> lines;
  while (child.receive(lines)) {
  }
  EXPECT_THAT(lines, ElementsAre("one"));
  EXPECT_EQ(child.unfinished_line(), "two");
  EXPECT_THAT(child.error_tail(), ElementsAre("noise", "more"));
  EXPECT_EQ(child.end().kind, ChildEnd::Kind::exited);
  EXPECT_EQ(child.end().number, 5);
}

TEST(Child, TakesInput) {
  Child child = shell("read line; echo \"got $line\" >&3");
  EXPECT_TRUE(child.send("this"));
  wait_for(child);
  std::vector<std::string> lines;
  while (child.receive(lines)) {
  }
  EXPECT_THAT(lines, ElementsAre("got this"));
}

TEST(Child, ProgramThatIsNotThere) {
  Child child("/nowhere/program", {});
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.end().kind, ChildEnd::Kind::not_started);
  EXPECT_EQ(child.end().number, ENOENT);
}

TEST(Child, StopTerminates) {
  Child child = shell("exec sleep 100");
  const ChildEnd end = child.stop(10);
  EXPECT_EQ(end.kind, ChildEnd::Kind::signalled);
  EXPECT_EQ(end.number, SIGTERM);
}

TEST(Child, StopKillsTheStubbornAndTheirChildren) {
  Child child = shell("trap '' TERM; sleep 100 & echo $! >&3; while :; do sleep 0.01; done");
  std::vector<std::string> lines;
  for (int i = 0; i < 1000 && lines.empty(); ++i) {
    pollfd message{child.message_fd(), POLLIN, 0};
    poll(&message, 1, 100);
    child.receive(lines);
  }
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(child.stop(0.05).number, SIGKILL);
  const pid_t grandchild = std::stoi(lines[0]);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    // A zombie that init has not collected yet is gone, too.
    const std::string stat = read_file_or("/proc/" + lines[0] + "/stat");
    gone = stat.empty() || stat.find(") Z ") != std::string::npos;
    poll(nullptr, 0, 10);
  }
  EXPECT_TRUE(gone) << grandchild;
}

TEST(Child, KeepsTheLastLinesOfManyErrors) {
  Child child = shell("i=0; while [ $i -lt 1000 ]; do echo $i >&2; i=$((i+1)); done");
  for (int i = 0; i < 1000 && child.running(); ++i) {
    child.receive_errors();
    poll(nullptr, 0, 10);
  }
  const std::vector<std::string> tail = child.error_tail();
  ASSERT_EQ(tail.size(), 20U);
  EXPECT_EQ(tail.back(), "999");
}

TEST(Child, SendToOneThatDoesNotReadNeverBlocks) {
  Child child = shell("exec sleep 100");
  const std::string text(10000, 'x');
  bool taken = true;
  for (int i = 0; i < 100 && taken; ++i) taken = child.send(text);
  EXPECT_FALSE(taken);
}

TEST(SignalName, Known) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
}

}  // namespace
}  // namespace assay
