// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What goes to standard error when it isn't a terminal: the live line never does. On a terminal: a pseudo-terminal.
#include "harness/parent/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "harness/base/file.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::string printed(bool quiet, const std::function<void(Progress&)>& use) {
  testing::internal::CaptureStderr();
  {
    Progress progress(quiet);
    use(progress);
  }
  return testing::internal::GetCapturedStderr();
}

// The same with a terminal for standard error; "" where there is none to have.
std::string on_a_terminal(const std::function<void(Progress&)>& use) {
  const Descriptor screen(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!screen || grantpt(screen.get()) != 0 || unlockpt(screen.get()) != 0) return {};
  Descriptor keyboard(open(ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const Descriptor saved(dup(STDERR_FILENO));
  if (!keyboard || dup2(keyboard.get(), STDERR_FILENO) < 0) return {};
  const char* term = std::getenv("TERM");
  const std::string before = term == nullptr ? "" : term;
  setenv("TERM", "xterm", 1);
  std::string text(65536, '\0');
  ssize_t n = 0;
  {
    Progress progress(false);
    use(progress);
    n = read(screen.get(), text.data(), text.size());
  }
  dup2(saved.get(), STDERR_FILENO);
  term == nullptr ? unsetenv("TERM") : setenv("TERM", before.c_str(), 1);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

Record record_with(Outcome outcome, const std::string& reason) {
  Record record;
  record.case_name = "a/b/n:1";
  record.device_set = {"cpu:0", "cpu:1"};
  record.session = 2;
  record.outcome = outcome;
  record.reason = reason;
  return record;
}

TEST(Progress, OneLineForEachCase) {
  const std::string text = printed(false, [](Progress& progress) {
    progress.begin(12, 3, 60);
    progress.note("the machine is quiet");
    progress.job_begin("a/b/n:1 on cpu:0", 2);
    progress.phase("setup");
    progress.tick();
    progress.job_end(record_with(Outcome::fail, "1 of 9 elements are wrong"), "session 2 of 3");
  });
  EXPECT_THAT(text, MatchesRegex("the machine is quiet\n\\[ 4/12\\] FAIL     a/b/n:1 on cpu:0\\+cpu:1, session 2 of 3: "
                                 "1 of 9 elements are wrong \\([^)]*\\)\n"));
}

TEST(Progress, QuietSaysOnlyWarnings) {
  const std::string text = printed(true, [](Progress& progress) {
    progress.begin(1, 0, 1);
    progress.note("a note");
    progress.job_begin("what", 1);
    progress.tick();
    progress.job_end(record_with(Outcome::measured, ""), "");
    progress.warning("look out");
  });
  EXPECT_EQ(text, "warning: look out\n");
}

TEST(Progress, WhatOthersWroteCantSteerATerminal) {
  const auto use = [](Progress& progress) {
    progress.begin(1, 0, 1);
    progress.note("note \x1b[2J");
    progress.warning("warning \x1b[2J\nassay: MEASURED");
    progress.job_begin("what \x1b[2J", 1);
    Record record = record_with(Outcome::error, "garbage \x1b[2J");
    record.case_name = "case \x1b[2J";
    progress.job_end(record, "");
  };
  EXPECT_THAT(printed(false, use), Not(HasSubstr("\x1b[2J")));
  EXPECT_THAT(printed(false, use), Not(HasSubstr("\nassay: MEASURED")));
  EXPECT_THAT(printed(false, use), HasSubstr("garbage \\x1b[2J"));
  const std::string screen = on_a_terminal(use);
  EXPECT_THAT(screen, Not(HasSubstr("\x1b[2J")));
  EXPECT_EQ(screen.find("\nassay: MEASURED"), std::string::npos);
}

TEST(Progress, LiveLineOnATerminal) {
  const std::string text = on_a_terminal([](Progress& progress) {
    progress.begin(9, 0, 60);
    progress.job_begin("a/b/n:1 on cpu:0 " + std::string(200, 'x'), 2);
  });
  if (text.empty()) GTEST_SKIP() << "no pseudo-terminal here";
  EXPECT_THAT(text, HasSubstr("[1/9] a/b/n:1 on cpu:0 xxx"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_LE(text.size(), 100U) << "one line of the terminal";
}

}  // namespace
}  // namespace assay
