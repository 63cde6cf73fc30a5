// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include "harness/base/file.h"

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

std::vector<std::string> lines_of(Child& child, std::size_t count) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000 && lines.size() < count; ++i) {
    pollfd message{child.message_fd(), POLLIN, 0};
    poll(&message, 1, 100);
    child.receive(lines);
  }
  return lines;
}

// A zombie that init has not collected yet is gone, too.
bool is_gone(const std::string& pid, int tries = 500) {
  for (int i = 0; i < tries; ++i) {
    const std::string stat = read_file_or("/proc/" + pid + "/stat");
    if (stat.empty() || stat.find(") Z ") != std::string::npos) return true;
    poll(nullptr, 0, 10);
  }
  return false;
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
  child.stop(10);
  const ChildEnd end = child.wait_over();
  EXPECT_EQ(end.kind, ChildEnd::Kind::signalled);
  EXPECT_EQ(end.number, SIGTERM);
}

TEST(Child, StopKillsTheStubbornAndTheirChildren) {
  Child child = shell("trap '' TERM; sleep 100 & echo $! >&3; while :; do sleep 0.01; done");
  const std::vector<std::string> lines = lines_of(child, 1);
  ASSERT_EQ(lines.size(), 1U);
  child.stop(0.05);
  EXPECT_EQ(child.wait_over().number, SIGKILL);
  EXPECT_TRUE(is_gone(lines[0]));
}

TEST(Child, StopNeverWaitsAndAHarderWishOvertakes) {
  Child child = shell("trap '' TERM; echo deaf >&3; while :; do sleep 0.01; done");
  lines_of(child, 1);
  child.stop(3600);
  EXPECT_TRUE(child.ending());
  EXPECT_FALSE(child.over());
  EXPECT_TRUE(child.running());
  EXPECT_GT(child.step_left_s(), 3000);
  child.stop(3600);  // nothing new
  child.stop(0);
  EXPECT_LE(child.step_left_s(), Child::kill_wait_s);
  EXPECT_EQ(child.wait_over().number, SIGKILL);
}

TEST(Child, LeaveEndsTheInputOfOneThatHesitates) {
  Child child = shell("cat >/dev/null; exit 4");
  child.leave(4);  // after two seconds its input ends; two more, and it would be stopped
  EXPECT_FALSE(child.over());
  EXPECT_EQ(child.wait_over().number, 4) << text_of(child.end());
}

TEST(Child, NothingItStartedOutlivesItEvenInASessionOfItsOwn) {
  Child child = shell(R"(setsid sh -c 'setsid sh -c "echo \$\$ >&3; exec sleep 100" & echo $$ >&3; sleep 100' &
                         read line; exit 0)");
  const std::vector<std::string> pids = lines_of(child, 2);
  ASSERT_EQ(pids.size(), 2U);
  for (const std::string& pid : pids) ASSERT_FALSE(is_gone(pid, 1));
  child.send("go");
  wait_for(child);
  EXPECT_EQ(child.end().number, 0);
  for (const std::string& pid : pids) EXPECT_TRUE(is_gone(pid, 1)) << pid;
}

TEST(Child, LeavesProcessesOfOthersAlone) {
  Child other = shell("exec sleep 100");
  Child child = shell("exit 0");
  wait_for(child);
  EXPECT_TRUE(other.running());
}

TEST(Child, GetsNoDescriptorOfOurs) {
  const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor low(fcntl(file.get(), F_DUPFD, 50)), high(fcntl(file.get(), F_DUPFD, 500));  // without O_CLOEXEC
  Child child = shell("for fd in " + std::to_string(low.get()) + " " + std::to_string(high.get()) +
                      "; do [ -e /proc/$$/fd/$fd ] && echo $fd >&3; done; echo end >&3");
  wait_for(child);
  std::vector<std::string> lines;
  while (child.receive(lines)) {
  }
  EXPECT_THAT(lines, ElementsAre("end"));
}

TEST(Child, WorksWithTheLowDescriptorsClosed) {
  // As a daemon starts it. What gtest prints meanwhile is lost, so nothing is checked before they are back.
  const std::array saved{Descriptor(fcntl(0, F_DUPFD_CLOEXEC, 100)), Descriptor(fcntl(1, F_DUPFD_CLOEXEC, 100)),
                         Descriptor(fcntl(2, F_DUPFD_CLOEXEC, 100))};
  std::vector<std::string> lines;
  for (int fd = 0; fd <= 2; ++fd) close(fd);
  {
    Child child = shell("read line; echo \"$line\" >&3; echo error >&2");
    child.send("heard");
    child.wait_over();
    while (child.receive(lines)) {
    }
    for (const std::string& text : child.error_tail()) lines.push_back(text);
  }
  for (int fd = 0; fd <= 2; ++fd) dup2(saved[static_cast<std::size_t>(fd)].get(), fd);
  EXPECT_THAT(lines, ElementsAre("heard", "error"));
}

TEST(Child, ALineWithoutEndIsGivenUp) {
  Child child = shell("exec cat /dev/zero >&3");
  std::vector<std::string> lines;
  std::size_t longest = 0;
  while (child.receive(lines)) longest = std::max(longest, child.unfinished_line().size());
  EXPECT_TRUE(child.message_too_long());
  EXPECT_TRUE(lines.empty());
  EXPECT_LE(longest, Child::longest_line);
  EXPECT_LE(child.unfinished_line().capacity(), std::size_t{1} << 16);
}

TEST(Child, AFloodIsTakenInPortions) {
  Child child = shell("exec yes >&3");
  for (int i = 0; i < 5; ++i) {
    std::vector<std::string> lines;
    EXPECT_TRUE(child.receive(lines));
    EXPECT_LE(lines.size(), std::size_t{600'000});
  }
  EXPECT_FALSE(child.message_too_long());
}

TEST(Child, OneWhoseStatusSomebodyElseTookHasEnded) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);  // the kernel itself collects them
  Child child = shell("exit 7");
  wait_for(child);
  EXPECT_EQ(child.end().kind, ChildEnd::Kind::lost);
  std::signal(SIGCHLD, before);
}

TEST(Child, ForgetsErrorsOfWhatIsOver) {
  Child child = shell("echo before >&2; printf half >&2; echo >&3; read line; echo after >&2");
  lines_of(child, 1);
  child.forget_errors();
  child.send("go");
  wait_for(child);
  EXPECT_THAT(child.error_tail(), ElementsAre("after"));
}

TEST(Child, ThreadsAreNotPlacedByTheEnvironment) {
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OMP_WAIT_POLICY", "active", 1);
  Child child = shell("echo ${OMP_NUM_THREADS-none} $OMP_WAIT_POLICY >&3");
  wait_for(child);
  std::vector<std::string> lines;
  while (child.receive(lines)) {
  }
  EXPECT_THAT(lines, ElementsAre("none active"));
  unsetenv("OMP_NUM_THREADS");
  unsetenv("OMP_WAIT_POLICY");
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
