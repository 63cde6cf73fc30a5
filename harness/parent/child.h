// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One child process in a process group of its own, with pipes for its standard input, its messages (`--assay-fd 3`) and
// its standard error. It dies with its parent: the kernel kills it when the parent is gone, and its standard input
// ends. Trap: a process in uninterruptible sleep can't be killed by anyone. Such a child is given up: descriptors
// closed, the process left behind, so that a run can go on.
#pragma once

#include <sys/types.h>

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

// How a child ended.
struct ChildEnd {
  enum class Kind { exited, signalled, unkillable, not_started } kind = Kind::exited;
  int number = 0;  // exit status, signal, or errno of a failed start
};

class Child {
 public:
  // Starts `program` with `arguments`. A program that can't be executed (not there, no permission, wrong format) gives
  // a child that has ended as `not_started`.
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

  // What has arrived, without waiting. Messages come as whole lines; `receive` returns false at the end of the stream.
  bool receive(std::vector<std::string>& lines);
  void receive_errors();
  bool message_too_long() const { return too_long_; }
  // Text after the last line end of the messages: not empty when a child was cut in the middle of a line.
  const std::string& unfinished_line() const { return partial_; }
  // The last lines of its standard error, the latest last.
  std::vector<std::string> error_tail();

  bool running();  // reaps
  const ChildEnd& end() const { return end_; }
  // Until it has ended, at most `seconds`; false when it hasn't. Its standard error is read meanwhile, its messages are
  // lost.
  bool wait_end(double seconds);
  // SIGTERM to the process group, after `grace_s` SIGKILL, after `kill_wait_s` given up. Reads what the child still
  // says.
  ChildEnd stop(double grace_s);
  // Waits for a child that was asked to leave: its input ends when it hesitates, and then it is stopped.
  ChildEnd leave(double grace_s);
  // Counter of kills by the memory limit of the child's control group (or of the machine, where it has none).
  std::uint64_t oom_kills();

  static constexpr double kill_wait_s = 5;

 private:
  void signal_group(int signal) const;
  void ended(int status);

  pid_t pid_ = -1;
  bool running_ = false;
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
