// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See watched.h. Trap: the child must hold none of our descriptors. One that can't be killed would keep them open, and
// whoever reads our output through a pipe would wait for its end as long as the child hangs.
#include "harness/doctor/watched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include "harness/base/clock.h"

namespace assay::doctor {
namespace {

constexpr std::uint64_t longest = std::uint64_t{64} << 20;

bool all(int fd, char* data, std::size_t size, bool out) {
  while (size > 0) {
    const ssize_t done = out ? send(fd, data, size, MSG_NOSIGNAL) : recv(fd, data, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

// An ending child takes a moment; one that waits in the kernel never ends, and is left behind.
bool collect(pid_t pid, int* status) {
  for (int i = 0; i < 100; ++i) {
    const pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended != 0) return ended == pid;
    usleep(1000);
  }
  return false;
}

[[noreturn]] void serve(int channel, const std::function<std::string(const std::string&)>& answer) {
  // Its number must survive, everything else goes.
  dup2(channel, 3);
  close_range(4, ~0U, 0);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd)
    if (null < 0 || dup2(null, fd) < 0) close(fd);
  if (null > 3) close(null);
  std::uint64_t size = 0;
  while (all(3, reinterpret_cast<char*>(&size), sizeof size, false) && size <= longest) {
    std::string question(size, '\0');
    if (!all(3, question.data(), size, false)) break;
    std::string text;
    try {
      text = answer(question);
    } catch (const std::exception&) {
      _exit(1);
    }
    size = text.size();
    if (!all(3, reinterpret_cast<char*>(&size), sizeof size, true) || !all(3, text.data(), text.size(), true)) break;
  }
  _exit(0);
}

}  // namespace

bool forbid_programs() {
#if defined(__x86_64__)
  constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
  return false;
#endif
  constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EACCES, other_numbers = 0x40000000;  // x32 on x86_64
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, other_numbers, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execveat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refused),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof steps / sizeof steps[0], steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Watched::Watched(std::function<std::string(const std::string&)> answer, double patience_s) : patience_s_(patience_s) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    reason_ = fmt::format("no channel to a child: {}", std::strerror(errno));
    return;
  }
  channel_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  pid_ = fork();
  if (pid_ == 0) serve(theirs.get(), answer);
  if (pid_ < 0) {
    channel_.reset();
    reason_ = fmt::format("no child could be started: {}", std::strerror(errno));
  }
}

Watched::~Watched() {
  channel_.reset();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  collect(pid_, nullptr);
}

void Watched::give_up(const std::string& reason) {
  reason_ = reason;
  channel_.reset();
}

bool Watched::transfer(char* data, std::size_t size, bool out) {
  while (size > 0) {
    if (patience_s_ <= 0) {
      late_ = true;
      give_up("no answer in time");
      return false;
    }
    const std::int64_t begin = monotonic_ns();
    pollfd waited{channel_.get(), static_cast<short>(out ? POLLOUT : POLLIN), 0};
    const int ready = poll(&waited, 1, static_cast<int>(patience_s_ * 1000) + 1);
    patience_s_ -= static_cast<double>(monotonic_ns() - begin) * 1e-9;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      patience_s_ = 0;
      continue;
    }
    const ssize_t done = out ? send(channel_.get(), data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                             : recv(channel_.get(), data, size, MSG_DONTWAIT);
    if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (done <= 0) {
      int status = 0;
      const bool ended = collect(pid_, &status);
      const bool signalled = ended && WIFSIGNALED(status);
      if (ended) pid_ = -1;
      give_up(signalled ? fmt::format("the child that asked was ended by signal {}", WTERMSIG(status))
                        : "the child that asked ended without an answer");
      return false;
    }
    data += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool Watched::ask(std::string_view question, std::string& answer) {
  if (!channel_) return false;
  std::uint64_t size = question.size();
  std::string copy(question);
  if (!transfer(reinterpret_cast<char*>(&size), sizeof size, true) || !transfer(copy.data(), copy.size(), true) ||
      !transfer(reinterpret_cast<char*>(&size), sizeof size, false))
    return false;
  if (size > longest) {
    give_up("the answer is too long");
    return false;
  }
  answer.assign(size, '\0');
  return transfer(answer.data(), answer.size(), false);
}

}  // namespace assay::doctor
