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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <system_error>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/parent/worker_environment.h"

namespace assay {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 20;
constexpr double descendants_wait_s = 1;
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
    if (end->get() <= worker_fd) {
      *end = Descriptor(fcntl(end->get(), F_DUPFD_CLOEXEC, worker_fd + 1));
      if (!*end) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
  return result;
}

void set_nonblocking(const Descriptor& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

// Everything but the four descriptors that are the child's goes when it begins its program, whoever opened it.
void close_the_rest() {
  if (close_range(worker_fd + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = worker_fd + 1; fd < 65536; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);  // an old kernel
}

// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const char* program, char* const* argv, char* const* environment, pid_t parent, int input,
                         int messages, int errors, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGXFSZ, SIGCHLD}) signal(s, SIG_DFL);
  // Standard output joins standard error: nothing a library prints may be taken for a message, or soil a report.
  if (dup2(input, 0) >= 0 && dup2(errors, 1) >= 0 && dup2(errors, 2) >= 0 && dup2(messages, worker_fd) >= 0) {
    close_the_rest();
    execve(program, argv, environment);
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t n = write(failure, &reason, sizeof reason);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// A process whose parent we are.
struct OurChild {
  pid_t pid = 0, group = 0;
};

std::vector<OurChild> our_children() {
  std::vector<OurChild> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const pid_t pid = std::atoi(entry->path().filename().c_str());
    if (pid <= 0) continue;
    // "4711 (a name, with anything in it) S 1 4700 ...": state, parent, process group
    const std::string stat = read_file_or(entry->path() / "stat");
    const std::size_t name_end = stat.rfind(") ");
    char state = 0;
    int parent = 0, its_group = 0;
    if (name_end != std::string::npos &&
        std::sscanf(stat.c_str() + name_end + 2, "%c %d %d", &state, &parent, &its_group) == 3 && parent == getpid())
      found.push_back({pid, its_group});
  }
  return found;
}

// The workers that live, or can't be ended: their process groups have the same number.
struct LiveWorker {
  pid_t pid = -1;
  std::string mark;
};
std::vector<LiveWorker>& live_workers() {
  static std::vector<LiveWorker> workers;
  return workers;
}

void forget(pid_t pid) {
  std::erase_if(live_workers(), [pid](const LiveWorker& worker) { return worker.pid == pid; });
}

// The shell that executed us may have left us children, and they may leave us theirs: then only its mark tells what a
// worker started. Else every child that isn't a worker is from one.
bool only_workers_children() {
  static const bool alone = our_children().empty();
  return alone;
}

bool is_of(const OurChild& process, const LiveWorker& worker) {
  const std::string zero(1, '\0');
  return process.group == worker.pid ||
         (zero + read_file_or(fmt::format("/proc/{}/environ", process.pid))).find(zero + worker.mark + zero) !=
             std::string::npos;
}

// What `ended` has started and left. One that has hidden its origin counts too, if it can't be of anybody else.
std::set<pid_t> adopted(const LiveWorker& ended) {
  std::set<pid_t> found;
  const auto of_other = [&](const OurChild& process, const LiveWorker& worker) {
    return process.pid == worker.pid || (worker.pid != ended.pid && is_of(process, worker));
  };
  for (const OurChild& process : our_children()) {
    if (process.pid == ended.pid) continue;
    const bool others = std::any_of(live_workers().begin(), live_workers().end(),
                                    [&](const LiveWorker& worker) { return of_other(process, worker); });
    if (!others && (only_workers_children() || is_of(process, ended))) found.insert(process.pid);
  }
  return found;
}

}  // namespace

Child::Child(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  static int count = 0;
  mark_ = fmt::format("ASSAY_WORKER_PROCESS={}.{}", getpid(), ++count);
  only_workers_children();           // asked before there is one
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a child leaves behind comes to us, not to init
  Pipe input = make_pipe(), messages = make_pipe(), errors = make_pipe(), failure = make_pipe();
  std::vector<std::string> words{program.string()}, variables = worker_environment();
  variables.push_back(mark_);
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--assay-fd", std::to_string(worker_fd)});
  const std::vector<char*> argv = pointers(words), environment = pointers(variables);

  const pid_t self = getpid();
  pid_ = fork();
  if (pid_ < 0) throw Error(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
  if (pid_ == 0)
    become(program.c_str(), argv.data(), environment.data(), self, input.read_end.get(), messages.write_end.get(),
           errors.write_end.get(), failure.write_end.get());
  setpgid(pid_, pid_);  // also here: whichever of the two comes first
  live_workers().push_back({pid_, mark_});
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
    forget(pid_);
    end_ = {ChildEnd::Kind::not_started, reason};
  }
}

Child::~Child() {
  stop(0);
  wait_over();
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
  for (std::size_t taken = 0; messages_ && taken < most_at_once;) {
    const ssize_t n = read(messages_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) {
      messages_.reset();
      break;
    }
    const std::string_view text(chunk.data(), static_cast<std::size_t>(n));
    taken += text.size();
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      lines.push_back(partial_ + std::string(text.substr(begin, end - begin)));
      partial_.clear();
    }
    partial_ += text.substr(begin);
    if (partial_.size() <= longest_line) continue;
    too_long_ = true;
    std::string().swap(partial_);  // its memory, too
    messages_.reset();
  }
  return static_cast<bool>(messages_);
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

void Child::forget_errors() {
  receive_errors();
  error_lines_.clear();
  error_partial_.clear();
}

bool Child::running() {
  if (!running_) return false;
  // Looked at, not yet collected: until then nobody else can get its number, or that of its group.
  siginfo_t info{};
  const int answer = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (answer == 0 ? info.si_pid != 0 : errno == ECHILD) {
    if (answer == 0) kill(-pid_, SIGKILL);  // what it started and left
    kill_descendants();
    collect();
  }
  return running_;
}

void Child::collect() {
  int status = 0;
  pid_t collected;
  while ((collected = waitpid(pid_, &status, 0)) < 0 && errno == EINTR) continue;
  running_ = false;
  forget(pid_);
  if (collected != pid_)
    end_ = {ChildEnd::Kind::lost, 0};
  else if (WIFSIGNALED(status))
    end_ = {ChildEnd::Kind::signalled, WTERMSIG(status)};
  else
    end_ = {ChildEnd::Kind::exited, WEXITSTATUS(status)};
}

// Of an ended child: what it started and left has come to us. Their own children come when they have ended, so this is
// repeated until there is nobody any more; in vain only for one that can't be killed.
void Child::kill_descendants() const {
  const std::int64_t begin = monotonic_ns();
  std::set<pid_t> left;
  do {
    for (const pid_t pid : adopted({pid_, mark_})) {
      kill(pid, SIGKILL);
      left.insert(pid);
    }
    if (left.empty()) return;
    poll(nullptr, 0, 1);
    for (auto pid = left.begin(); pid != left.end();)
      pid = waitpid(*pid, nullptr, WNOHANG) != 0 ? left.erase(pid) : std::next(pid);
  } while (seconds_since(begin) < descendants_wait_s);
}

void Child::enter(Step step, double seconds) {
  step_ = step;
  step_end_ns_ = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
}

double Child::step_left_s() const { return std::max(0.0, 1e-9 * static_cast<double>(step_end_ns_ - monotonic_ns())); }

void Child::leave(double grace_s) {
  if (ending()) return;
  grace_s_ = grace_s;
  enter(Step::leaving, grace_s / 2);
}

void Child::stop(double grace_s) {
  const Step wanted = grace_s > 0 ? Step::terminated : Step::killed;
  if (step_ >= wanted || !running()) return;
  kill(-pid_, wanted == Step::killed ? SIGKILL : SIGTERM);
  enter(wanted, wanted == Step::killed ? kill_wait_s : grace_s);
}

bool Child::over() {
  if (ending()) {
    std::vector<std::string> dropped;  // read all the same: a child that waits for room in a pipe couldn't end
    receive(dropped);
    receive_errors();
  }
  if (!running()) return true;
  if (!ending() || step_left_s() > 0) return false;
  switch (step_) {
    case Step::leaving:
      input_.reset();
      enter(Step::input_ended, grace_s_ / 2);
      return false;
    case Step::input_ended:
      stop(grace_s_);
      return false;
    case Step::terminated:
      stop(0);
      return false;
    default:
      running_ = false;
      end_ = {ChildEnd::Kind::unkillable, SIGKILL};
      for (Descriptor* fd : {&input_, &messages_, &errors_, &exit_}) fd->reset();
      return true;
  }
}

const ChildEnd& Child::wait_over() {
  while (!over()) {
    const double wait_s = std::min(ending() ? step_left_s() : 1.0, exit_ ? 1.0 : 0.02);  // an old kernel without pidfd
    std::array<pollfd, 3> wait{{{exit_.get(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
    if (ending()) wait[1].fd = errors_.get(), wait[2].fd = messages_.get();
    poll(wait.data(), wait.size(), static_cast<int>(wait_s * 1000) + 1);
  }
  return end_;
}

std::uint64_t Child::oom_kills() {
  if (running()) cgroup_.emplace(std::to_string(pid_));  // it may have been moved to another group
  return cgroup_ ? cgroup_->oom_kills() : 0;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : fmt::format("signal {}", signal);
}

std::string text_of(const ChildEnd& end) {
  switch (end.kind) {
    case ChildEnd::Kind::exited:
      return fmt::format("exit status {}", end.number);
    case ChildEnd::Kind::signalled:
      return signal_name(end.number);
    case ChildEnd::Kind::not_started:
      return std::strerror(end.number);
    case ChildEnd::Kind::unkillable:
      return "it can't be ended";
    default:
      return "an exit status that somebody else collected";
  }
}

}  // namespace assay
