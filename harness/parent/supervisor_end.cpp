// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How the supervisor sends workers away: at the end of their session, and when the user interrupts the run. What was
// cut short by an interrupt is left to --resume. A second signal ends every patience.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/parent/supervisor.h"

namespace assay {
namespace {

bool at_once() { return InterruptGuard::count() > 1; }

std::string how_it_left(const ChildEnd& end) {
  if (end.kind == ChildEnd::Kind::unkillable) return "the worker can't be ended and is left behind";
  if (end.kind != ChildEnd::Kind::exited) return "the worker was ended by " + text_of(end);
  return end.number == 0 ? "the worker left" : "the worker left with " + text_of(end);
}

}  // namespace

// What an interrupted worker still says: the case is stored if it is complete, and nothing that is doubtful.
void Supervisor::hear_out(Job& job) {
  std::vector<std::string> lines;
  job.worker->child->receive(lines);
  job.worker->child->receive_errors();
  for (const std::string& text : lines) {
    if (job.state == Job::State::done) return;
    Message message{};
    try {
      message = parse_message(text);
      if (message.type == MessageType::record && message.id == job.id) take_record(job, message);
    } catch (const Error&) {
      job.record.reset();
    }
    if (message.type != MessageType::case_end || message.id != job.id) continue;
    const bool cut = !job.record || std::any_of(job.record->series.begin(), job.record->series.end(),
                                                [](const Series& s) { return s.stop_reason == "stopped"; });
    if (!cut && job.record->outcome != Outcome::error && job.record->outcome != Outcome::not_run) finish(job);
    job.state = Job::State::done;
  }
}

// A signal came: the workers are asked to stop, and get `grace_s` to hand over what is complete. A measurement that was
// cut short is not stored: --resume measures it again, whole. A second signal ends the patience.
bool Supervisor::wind_down(Step& step) {
  progress_.note("interrupted: stopping the worker; once more to stop at once");
  const std::int64_t begin = monotonic_ns();
  const auto busy = [](const Job& job) {
    return job.state != Job::State::done && job.state != Job::State::ready && job.state != Job::State::stopping;
  };
  for (Job& job : step) {
    if (job.state == Job::State::done || job.state == Job::State::stopping) continue;
    if (job.worker->greeted) job.worker->child->send(line({{"type", "stop"}}));
    job.worker->child->send(line({{"type", "quit"}}));
  }
  for (bool waiting = true; waiting;) {
    waiting = false;
    std::vector<pollfd> fds;
    for (Job& job : step) {
      if (!busy(job)) continue;
      const bool running = job.worker->child->running();  // asked before: one that has ended has said everything
      hear_out(job);
      if (!running || !busy(job)) continue;
      waiting = !at_once() && seconds_since(begin) < plan_.patience.grace_s;
      for (const int fd : {job.worker->child->message_fd(), job.worker->child->exit_fd()})
        fds.push_back({fd, POLLIN, 0});
    }
    if (waiting) poll(fds.data(), fds.size(), 50);
  }
  for (Job& job : step) {
    if (!job.worker->child) continue;
    report_event("interrupt", &job, *job.worker, "interrupted by " + signal_name(InterruptGuard::last()));
    if (busy(job)) job.worker->child->stop(plan_.patience.grace_s);  // it had its time to leave
  }
  return false;
}

// All are asked at once. A second Ctrl-C ends the patience with those that don't go.
void Supervisor::quit_workers(const Step* except) {
  const auto stays = [&](const Worker& worker) {
    return except != nullptr && std::any_of(except->begin(), except->end(), [&](const Job& job) {
             return job.planned->worker == worker.planned->name && job.planned->device_set == worker.device_set;
           });
  };
  const auto leaving = std::stable_partition(workers_.begin(), workers_.end(),
                                             [&](const auto& worker) { return !worker->child || stays(*worker); });
  for (auto it = leaving; it != workers_.end(); ++it) {
    Child& child = *(*it)->child;
    if (child.ending()) continue;
    child.send(line({{"type", "quit"}}));
    child.leave(plan_.patience.grace_s);
  }
  for (bool over = false; !over;) {
    over = true;
    std::vector<pollfd> fds;
    for (auto it = leaving; it != workers_.end(); ++it) {
      Child& child = *(*it)->child;
      if (at_once()) child.stop(0);
      if (child.over()) continue;
      over = false;
      for (const int fd : {child.message_fd(), child.error_fd(), child.exit_fd()}) fds.push_back({fd, POLLIN, 0});
    }
    if (!over) poll(fds.data(), fds.size(), 20);
  }
  for (auto it = leaving; it != workers_.end(); ++it)
    report_event("worker_exit", nullptr, **it, how_it_left((*it)->child->end()));
  workers_.erase(leaving, workers_.end());
}

}  // namespace assay
