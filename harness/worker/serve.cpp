// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The worker's end of the protocol (harness/protocol.h). Three threads: one reads the parent's messages, one sends
// heartbeats, the main one runs cases. End of input means that the parent is gone: the process leaves at once, whatever
// it is doing, so that no worker outlives its parent.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/parse_json.h"
#include "harness/worker/worker.h"

namespace assay {
namespace {

class Server final : public Link {
 public:
  Server(int fd, const WorkerProgram& program) : fd_(fd), program_(program) {}

  int run() {
    std::signal(SIGPIPE, SIG_IGN);  // a parent that is gone shows as EPIPE, and then as end of input
    const Manifest& manifest = program_.manifest;
    send({{"type", "hello"},
          {"schema", worker_schema},
          {"worker", manifest.worker},
          {"version", manifest.version},
          {"commit", manifest.commit},
          {"pid", getpid()}});
    std::thread([this] { read_messages(); }).detach();
    std::thread([this] { send_heartbeats(); }).detach();
    CaseRequest request;
    while (next(request)) {
      send({{"type", "case_begin"}, {"id", request.id}});
      const Record record = program_.run_case(request, *this);
      send({{"type", "record"}, {"id", request.id}, {"record", to_json(record)}});
      end_case(request.id);
      if (program_.is_over && program_.is_over()) {
        std::fprintf(stderr, "assay-worker-%s: the device is lost for this process, which ends\n",
                     manifest.worker.c_str());
        break;
      }
    }
    // The detached threads hold nothing that needs unwinding; a normal exit would destroy what they still read.
    std::fflush(nullptr);
    _exit(exit_code::pass);
  }

  std::optional<std::int64_t> ready() override {
    send({{"type", "ready"}, {"id", id()}});
    std::unique_lock lock(guard_);
    if (!current_.hold) return std::nullopt;
    changed_.wait(lock, [this] { return go_ns_.has_value() || stop_ || quit_; });
    if (!go_ns_) return std::nullopt;
    const std::int64_t at = *go_ns_;
    lock.unlock();
    // Sleeping ends late by tens of microseconds; the last millisecond is spent looking at the clock.
    if (const std::int64_t wait = at - monotonic_ns() - 1'000'000; wait > 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(wait));
    while (monotonic_ns() < at) {
    }
    return at;
  }
  void phase(const char* name) override {
    const std::lock_guard lock(guard_);
    phase_ = name;
  }
  void window(const std::string& metric, const std::string& unit, double value, double seconds) override {
    send({{"type", "window"},
          {"id", id()},
          {"metric", metric},
          {"unit", unit},
          {"value", number(value)},
          {"seconds", number(seconds)}});
  }
  bool stop_requested() const override {
    const std::lock_guard lock(guard_);
    return stop_ || quit_;
  }

 private:
  // One line at a time. Never called with guard_ held: a parent that reads slowly must not keep `stop` from being
  // heard.
  void send(const Json& message) {
    const std::lock_guard lock(writing_);
    write_line(message);
  }
  // Under the same lock as a heartbeat's look at busy_, so that none follows the end of its case.
  void end_case(std::uint64_t id) {
    const std::lock_guard lock(writing_);
    idle();
    write_line({{"type", "case_end"}, {"id", id}});
  }
  void write_line(const Json& message) {
    const std::string text = line(message) + "\n";
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = write(fd_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) _exit(exit_code::error);  // nobody listens any more
      done += static_cast<std::size_t>(n);
    }
  }

  bool next(CaseRequest& request) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [this] { return !cases_.empty() || quit_; });
    if (cases_.empty()) return false;
    request = cases_.front();
    cases_.pop_front();
    current_ = request;
    busy_ = true;
    stop_ = false;
    go_ns_.reset();
    return true;
  }
  std::uint64_t id() {
    const std::lock_guard lock(guard_);
    return current_.id;
  }
  void idle() {
    const std::lock_guard lock(guard_);
    busy_ = false;
  }

  void handle(const Json& message) {
    const std::lock_guard lock(guard_);
    const std::string type = message.at("type");
    if (type == "case")
      cases_.push_back(case_request_from_json(message));
    else if (type == "go")
      go_ns_ = message.at("at_monotonic_ns").get<std::int64_t>();
    else if (type == "stop")
      stop_ = true;
    else if (type == "quit")
      quit_ = true;
    else
      throw Error(fmt::format("message type '{}'", type));
    changed_.notify_all();
  }

  void read_messages() {
    std::string pending;
    std::array<char, 65536> chunk{};
    for (;;) {
      const ssize_t n = read(STDIN_FILENO, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) _exit(exit_code::error);
      pending.append(chunk.data(), static_cast<std::size_t>(n));
      for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
        try {
          handle(parse_json(std::string_view(pending).substr(0, end)));
        } catch (const std::exception& problem) {
          std::fprintf(stderr, "assay-worker-%s: cannot understand the parent: %s\n", program_.manifest.worker.c_str(),
                       problem.what());
          _exit(exit_code::error);
        }
      }
    }
  }

  void send_heartbeats() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      const std::lock_guard writing(writing_);
      std::unique_lock lock(guard_);
      if (!busy_) continue;
      const Json message{{"type", "heartbeat"}, {"id", current_.id}, {"phase", phase_}};
      lock.unlock();
      write_line(message);
    }
  }

  int fd_;
  const WorkerProgram& program_;
  std::mutex writing_;        // before guard_ where both are taken
  mutable std::mutex guard_;  // everything below
  std::condition_variable changed_;
  std::deque<CaseRequest> cases_;
  CaseRequest current_;
  bool busy_ = false, stop_ = false, quit_ = false;
  std::optional<std::int64_t> go_ns_;
  std::string phase_ = "setup";
};

}  // namespace

int serve(int fd, const WorkerProgram& program) {
  static Server server(fd, program);  // outlives the detached threads
  return server.run();
}

}  // namespace assay
