// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One child process in a process group of its own, with pipes for its standard input, its messages (`--assay-fd 3`) and
// its standard error. It dies with its parent: the kernel kills it when the parent is gone, and its standard input
// ends. What it started dies with it, also in a session of its own. Nothing here waits, except what says so: one who
// watches several children must not lose sight of the others. Trap: a process in uninterruptible sleep can't be killed
// by anyone. Such a child is given up: descriptors closed, the process left behind, so that a run can go on.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/cgroup.h"
#include "harness/base/file.h"

namespace assay {

// How a child ended. `lost`: somebody else collected its status.
struct ChildEnd {
  enum class Kind { exited, signalled, unkillable, not_started, lost } kind = Kind::exited;
  int number = 0;  // exit status, signal, or errno of a failed start
};
// "exit status 7", "SIGSEGV", ...
std::string text_of(const ChildEnd& end);

class Child {
 public:
  // Starts `program` with `arguments`. A program that can't be executed (not there, no permission, wrong format) gives
  // a child that has ended as `not_started`. Its environment is that of worker_environment.h.
  Child(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills without mercy what is left; waits at most `kill_wait_s` for it.
  ~Child();

  pid_t pid() const { return pid_; }
  // Readable descriptors for poll(); -1 once closed. `exit_fd` becomes readable when the process has ended.
  int message_fd() const { return messages_.get(); }
  int error_fd() const { return errors_.get(); }
  int exit_fd() const { return exit_.get(); }

  // One line to its standard input; false when it can't take it (gone, or its pipe is full because it doesn't read).
  bool send(std::string_view text);
  void close_input() { input_.reset(); }

  // What has arrived, at most about a MiB at once. Messages come as whole lines; `receive` returns false at the end of
  // the stream, and after a line longer than `longest_line`.
  bool receive(std::vector<std::string>& lines);
  void receive_errors();
  bool message_too_long() const { return too_long_; }
  // Text after the last line end of the messages: not empty when a child was cut in the middle of a line.
  const std::string& unfinished_line() const { return partial_; }
  // The last lines of its standard error, the latest last.
  std::vector<std::string> error_tail();
  // What it has said on its standard error so far belongs to something that is over.
  void forget_errors();

  bool running();  // collects one that has ended
  const ChildEnd& end() const { return end_; }

  // Ends it step by step, each step harder than the one before, as over() is called. `leave` is for a child that was
  // asked to: after half of `grace_s` its input ends, after the other half it is stopped. `stop`: SIGTERM to its
  // process group, after `grace_s` SIGKILL, after `kill_wait_s` given up. A harder wish overtakes an easier one.
  void leave(double grace_s);
  void stop(double grace_s);
  bool ending() const { return step_ != Step::none; }
  double step_left_s() const;  // until over() has something to do
  // Takes the next step if its time has come, and drops what an ending child still says. True once it has ended or was
  // given up.
  bool over();
  // Waits until it is over: without end for a child that nobody stops.
  const ChildEnd& wait_over();
  // Counter of kills by the memory limit of the child's control group (or of the machine, where it has none).
  std::uint64_t oom_kills();

  static constexpr double kill_wait_s = 5;
  static constexpr std::size_t longest_line = std::size_t{16} << 20;

 private:
  enum class Step { none, leaving, input_ended, terminated, killed };
  void enter(Step step, double seconds);
  void collect();
  void kill_descendants() const;

  pid_t pid_ = -1;
  std::string mark_;  // a variable in its environment, and in that of all it starts
  bool running_ = false;
  Step step_ = Step::none;
  double grace_s_ = 0;
  std::int64_t step_end_ns_ = 0;
  ChildEnd end_;
  Descriptor input_, messages_, errors_, exit_;
  std::string partial_, error_partial_;
  std::deque<std::string> error_lines_;
  bool too_long_ = false;
  std::optional<Cgroup> cgroup_;  // that it was in when it was asked last
};

// "SIGSEGV", or "signal 42" for one without a name.
std::string signal_name(int signal);

}  // namespace assay
