// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See child.h.
#include "harness/parent/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"

namespace assay {
namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20;
constexpr std::size_t error_lines_kept = 20, error_line_length = 500;
constexpr int worker_fd = 3;  // where the child finds its message pipe

struct Pipe {
  Descriptor read_end, write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  // Above the numbers that the child uses, so that dup2 in the child never meets its own source.
  Pipe result{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&result.read_end, &result.write_end})
    if (end->get() <= worker_fd) *end = Descriptor(fcntl(end->get(), F_DUPFD_CLOEXEC, worker_fd + 1));
  return result;
}

void set_nonblocking(const Descriptor& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const char* program, char* const* argv, pid_t parent, int input, int messages, int errors,
                         int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGXFSZ}) signal(s, SIG_DFL);
  // Standard output joins standard error: nothing a library prints may be taken for a message, or soil a report.
  if (dup2(input, 0) >= 0 && dup2(errors, 1) >= 0 && dup2(errors, 2) >= 0 && dup2(messages, worker_fd) >= 0)
    execv(program, argv);
  const int reason = errno;
  [[maybe_unused]] const ssize_t n = write(failure, &reason, sizeof reason);
  _exit(127);
}

}  // namespace

Child::Child(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  Pipe input = make_pipe(), messages = make_pipe(), errors = make_pipe(), failure = make_pipe();
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--assay-fd", std::to_string(worker_fd)});
  std::vector<char*> argv;
  for (std::string& text : words) argv.push_back(text.data());
  argv.push_back(nullptr);

  const pid_t self = getpid();
  pid_ = fork();
  if (pid_ < 0) throw Error(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
  if (pid_ == 0)
    become(program.c_str(), argv.data(), self, input.read_end.get(), messages.write_end.get(), errors.write_end.get(),
           failure.write_end.get());
  setpgid(pid_, pid_);  // also here: whichever of the two comes first
  running_ = true;
  input_ = std::move(input.write_end);
  messages_ = std::move(messages.read_end);
  errors_ = std::move(errors.read_end);
  for (const Descriptor* fd : {&input_, &messages_, &errors_}) set_nonblocking(*fd);
  exit_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));

  failure.write_end.reset();
  int reason = 0;
  ssize_t n;
  while ((n = read(failure.read_end.get(), &reason, sizeof reason)) < 0 && errno == EINTR) continue;
  if (n == sizeof reason) {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    running_ = false;
    end_ = {ChildEnd::Kind::not_started, reason};
  }
}

Child::~Child() {
  if (running()) stop(0);
}

bool Child::send(std::string_view text) {
  if (!input_) return false;
  // At most a few kB with one case under way: a pipe that can't take them belongs to a child that doesn't read.
  const std::string whole = std::string(text) + "\n";
  std::size_t done = 0;
  while (done < whole.size()) {
    const ssize_t n = write(input_.get(), whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

bool Child::receive(std::vector<std::string>& lines) {
  std::array<char, 65536> chunk{};
  while (messages_) {
    const ssize_t n = read(messages_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) break;
    const std::string_view text(chunk.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      lines.push_back(partial_ + std::string(text.substr(begin, end - begin)));
      partial_.clear();
    }
    partial_ += text.substr(begin);
    if (partial_.size() > longest_line || lines.size() > 100'000) {
      too_long_ = true;
      messages_.reset();
    }
    if (n < static_cast<ssize_t>(chunk.size())) return true;  // let others be served
  }
  messages_.reset();
  return false;
}

void Child::receive_errors() {
  std::array<char, 4096> chunk{};
  // Bounded, so that a child that floods its standard error can't hold the parent here.
  for (int round = 0; errors_ && round < 64; ++round) {
    const ssize_t n = read(errors_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      errors_.reset();
      return;
    }
    for (const char c : std::string_view(chunk.data(), static_cast<std::size_t>(n))) {
      if (c != '\n') {
        if (error_partial_.size() < error_line_length) error_partial_ += c;
        continue;
      }
      error_lines_.push_back(std::move(error_partial_));
      error_partial_.clear();
      if (error_lines_.size() > error_lines_kept) error_lines_.pop_front();
    }
  }
}

std::vector<std::string> Child::error_tail() {
  receive_errors();
  std::vector<std::string> tail(error_lines_.begin(), error_lines_.end());
  if (!error_partial_.empty()) tail.push_back(error_partial_);
  return tail;
}

bool Child::running() {
  int status = 0;
  if (running_ && waitpid(pid_, &status, WNOHANG) == pid_) ended(status);
  return running_;
}

void Child::ended(int status) {
  running_ = false;
  if (WIFSIGNALED(status))
    end_ = {ChildEnd::Kind::signalled, WTERMSIG(status)};
  else
    end_ = {ChildEnd::Kind::exited, WEXITSTATUS(status)};
  signal_group(SIGKILL);  // what it started and left
}

void Child::signal_group(int signal) const { kill(-pid_, signal); }

bool Child::wait_end(double seconds) {
  const std::int64_t begin = monotonic_ns();
  std::vector<std::string> ignored;
  while (running()) {
    const double left = seconds - seconds_since(begin);
    if (left <= 0) return false;
    // Its output is read on the way: a child that waits for room in a pipe couldn't end.
    std::array<pollfd, 3> wait{{{exit_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {messages_.get(), POLLIN, 0}}};
    poll(wait.data(), wait.size(), static_cast<int>(std::min(left, exit_ ? 0.5 : 0.02) * 1000) + 1);
    if (wait[1].revents != 0) receive_errors();
    if (wait[2].revents != 0) receive(ignored);
    ignored.clear();
  }
  return true;
}

ChildEnd Child::stop(double grace_s) {
  if (!running()) return end_;
  if (grace_s > 0) {
    signal_group(SIGTERM);
    if (wait_end(grace_s)) return end_;
  }
  signal_group(SIGKILL);
  if (wait_end(kill_wait_s)) return end_;
  running_ = false;
  end_ = {ChildEnd::Kind::unkillable, SIGKILL};
  for (Descriptor* fd : {&input_, &messages_, &errors_, &exit_}) fd->reset();
  return end_;
}

ChildEnd Child::leave(double grace_s) {
  if (wait_end(grace_s / 2)) return end_;
  input_.reset();
  return wait_end(grace_s / 2) ? end_ : stop(grace_s);
}

std::uint64_t Child::oom_kills() {
  if (running()) cgroup_.emplace(std::to_string(pid_));  // it may have been moved to another group
  return cgroup_ ? cgroup_->oom_kills() : 0;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : fmt::format("signal {}", signal);
}

}  // namespace assay
