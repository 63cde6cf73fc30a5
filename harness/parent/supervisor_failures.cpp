// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What can go wrong under the supervisor: a worker that ends, is late or can't be killed. Each ends the case with an
// ERROR record that says how.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/parent/supervisor.h"

namespace assay {
namespace {

// "error while loading shared libraries: libX.so.1: cannot open ..." -> "libX.so.1"
std::string missing_library(const std::vector<std::string>& lines) {
  constexpr std::string_view words = "error while loading shared libraries: ";
  for (const std::string& text : lines) {
    const std::size_t at = text.find(words);
    if (at == std::string::npos) continue;
    const std::string rest = text.substr(at + words.size());
    return rest.substr(0, rest.find(':'));
  }
  return {};
}

std::string sentence(const Failure& failure) {
  if (failure.kind == "signal") return "the worker was ended by " + failure.detail;
  if (failure.kind == "exit") return "the worker left before the end of the case: " + failure.detail;
  if (failure.kind == "library") return "the worker can't load " + failure.detail;
  if (failure.kind == "timeout") return "the worker was too late: " + failure.detail;
  if (failure.kind == "protocol") return "the worker broke the protocol: " + failure.detail;
  if (failure.kind == "memory_limit") return "the worker was killed by the limit of memory: " + failure.detail;
  if (failure.kind == "unkillable") return "the worker can't be ended: " + failure.detail;
  if (failure.kind == "unknown_fact") return failure.detail;
  return "the worker couldn't be started: " + failure.detail;
}

}  // namespace

void Supervisor::check_patience(Job& job) {
  const Patience& patience = plan_.patience;
  if (job.state == Job::State::stopping) return;  // the steps of its end have their own times
  if (job.state == Job::State::waiting_for_hello) {
    if (seconds_since(job.worker->started_ns) > patience.start_s)
      fail(job, {"timeout", fmt::format("no hello within {}", format_duration(patience.start_s)), {}});
    return;
  }
  if (job.state == Job::State::ready) return;  // it waits for the others, each of which has its own deadline
  if (seconds_since(job.sent_ns) > job.planned->deadline_s)
    return fail(
        job,
        {"timeout", fmt::format("not at the end of the case after {}", format_duration(job.planned->deadline_s)), {}});
  if (seconds_since(job.heard_ns) > patience.heartbeat_s)
    fail(job, {"timeout", fmt::format("no heartbeat for {}", format_duration(patience.heartbeat_s)), {}});
}

// Why a worker that has ended did so.
Failure Supervisor::failure_of_end(Job& job) const {
  Child& child = *job.worker->child;
  const ChildEnd& end = child.end();
  const std::vector<std::string> tail = child.error_tail();
  if (end.kind == ChildEnd::Kind::not_started)
    return {"start", fmt::format("{}: {}", job.worker->planned->path.string(), std::strerror(end.number)), tail};
  if (end.kind == ChildEnd::Kind::signalled) {
    if (end.number == SIGKILL && job.state != Job::State::waiting_for_hello && child.oom_kills() > job.oom_kills)
      return {"memory_limit", "SIGKILL, and the kernel counted a kill for want of memory", tail};
    return {"signal", signal_name(end.number), tail};
  }
  const std::string library = end.number == 127 ? missing_library(tail) : "";
  if (!library.empty()) return {"library", library, tail};
  return {"exit", text_of(end), tail};
}

void Supervisor::fail(Job& job, Failure failure) {
  // One that never took the case broke down after an earlier one, which isn't this one's fault.
  job.again = job.state == Job::State::sent && !job.worker->served.empty() && !job.retried;
  job.failure = std::move(failure);
  job.state = Job::State::stopping;
  job.worker->child->stop(plan_.patience.grace_s);
  after_stop(job);
}

void Supervisor::after_stop(Job& job) {
  Worker& worker = *job.worker;
  Child& child = *worker.child;
  Failure& failure = job.failure;
  if (!child.over()) return;
  if (child.end().kind == ChildEnd::Kind::unkillable) {
    failure.detail = fmt::format("{}; process {} doesn't end after SIGKILL (it waits in the kernel) and is left behind",
                                 failure.detail, child.pid());
    failure.kind = "unkillable";
  }
  if (failure.stderr_tail.empty()) failure.stderr_tail = child.error_tail();
  if (!worker.greeted) {
    ++failed_starts_[worker.planned->name];
    last_start_failure_[worker.planned->name] = failure;
  }
  if (!job.again) store_error(job, failure);
  report_event("worker_exit", &job, worker, sentence(failure) + (job.again ? "; the case begins again" : ""));
  worker.child.reset();
  worker.greeted = false;
  if (job.again) begin_again(job);
}

void Supervisor::fail_without_worker(Job& job, const Failure& failure) { store_error(job, failure); }

void Supervisor::store_error(Job& job, const Failure& failure) {
  Record record;
  record.case_name = job.planned->name;
  record.benchmark = job.planned->benchmark;
  record.params = params_of(*job.planned);
  record.worker = job.planned->worker;
  record.worker_version = job.worker->planned->version;
  record.device_set = job.planned->device_set;
  for (const DeviceInfo& device : plan_.devices)
    if (device.id == job.planned->device_set.front()) record.simulated = device.simulated;
  record.session = job.session;
  record.process = std::max(1, job.worker->process);
  record.started_at = job.started_at;
  record.go_ns = job.go_ns;
  record.outcome = Outcome::error;
  record.reason = sentence(failure);
  record.failure = failure;
  record.seed = plan_.seed;
  record.wall_s = job.sent_ns == 0 ? 0 : seconds_since(job.sent_ns);
  record.test_knobs = plan_.test_knobs;
  store_.append(record);
  tally_.add(record);
  job.state = Job::State::done;
  job.record.reset();
  report_event("failure", &job, *job.worker, record.reason);
  progress_.job_end(record, session_text(record.session));
}

}  // namespace assay
