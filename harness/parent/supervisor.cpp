// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See supervisor.h. Reading order: run, run_step, poll_once, handle; what can go wrong is in supervisor_failures.cpp,
// how workers are sent away in supervisor_end.cpp.
#include "harness/parent/supervisor.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/parent/gates.h"
#include "harness/parent/run_data.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

constexpr int give_up_after_failed_starts = 3;
constexpr std::int64_t go_delay_ns = 50'000'000;
constexpr double telemetry_period_s = 1;
constexpr double closed_patience_s = 0.5;

}  // namespace

Supervisor::Supervisor(const Plan& plan, const DeclaredMetrics& declared, Store& store, Progress& progress,
                       CoverageTally& tally)
    : plan_(plan), declared_(declared), store_(store), progress_(progress), tally_(tally) {}

Supervisor::~Supervisor() = default;

void Supervisor::seen(const Record& record) {
  int& count = processes_[device_set_name(record.device_set)];
  count = std::max(count, record.process);
}

// --- the loop --------------------------------------------------------------------------------------------------------

// Cases to do in `session`, one a step; with --concurrent the same case on all its devices in one step.
std::vector<Supervisor::Step> Supervisor::steps(int session) const {
  std::vector<Step> result;
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < plan_.cases.size(); ++i) {
    const PlannedCase& planned = plan_.cases[i];
    if (planned.coverage != Coverage::required || session > plan_.sessions_of(planned)) continue;
    if (tally_.find(i, session) != nullptr) continue;
    Job job;
    job.planned = &planned;
    job.index = i;
    job.session = session;
    const auto [found, fresh] = place.emplace(planned.name, result.size());
    if (fresh || !plan_.concurrent) {
      found->second = result.size();
      result.emplace_back();
    }
    result[found->second].push_back(std::move(job));
  }
  return result;
}

std::size_t Supervisor::jobs_left() const {
  std::size_t count = 0;
  for (int session = 1; session <= plan_.sessions; ++session)
    for (const Step& step : steps(session)) count += step.size();
  return count;
}

std::string Supervisor::session_text(int session) const {
  if (plan_.sessions == 1) return {};
  return fmt::format("session {} of {}{}", session, plan_.against ? "at most " : "", plan_.sessions);
}

bool Supervisor::run(const std::function<void(int session)>& after_session) {
  for (session_ = 1; session_ <= plan_.sessions; ++session_) {
    for (Step& step : steps(session_))
      if (InterruptGuard::count() > 0 || !run_step(step)) {
        quit_workers(nullptr);
        return false;
      }
    quit_workers(nullptr);
    if (after_session) after_session(session_);
  }
  return true;
}

bool Supervisor::run_step(Step& step) {
  // One case after the other: an idle worker on another device would keep its memory. Together: all stay.
  if (!plan_.concurrent) quit_workers(&step);
  double estimate = 0;
  for (const Job& job : step) estimate = std::max(estimate, job.planned->estimate_s);
  std::vector<std::string> sets;
  for (const Job& job : step) sets.push_back(device_set_name(job.planned->device_set));
  std::string what = fmt::format("{} on {}", step.front().planned->name, join(sets, ", "));
  if (const std::string session = session_text(session_); !session.empty()) what += ", " + session;
  progress_.job_begin(what, estimate);
  for (Job& job : step) begin(job, step.size() > 1);
  const auto open = [](const Job& job) { return job.state != Job::State::done; };
  while (std::any_of(step.begin(), step.end(), open)) {
    if (InterruptGuard::count() > 0) return wind_down(step);
    poll_once(step);
    for (Job& job : step)
      if (open(job)) check_patience(job);
    go_together(step);
    telemetry();
    progress_.tick();
  }
  return true;
}

Supervisor::Worker& Supervisor::worker_for(const PlannedCase& planned) {
  for (const auto& worker : workers_)
    if (worker->planned->name == planned.worker && worker->device_set == planned.device_set) return *worker;
  auto worker = std::make_unique<Worker>();
  for (const PlannedWorker& candidate : plan_.workers)
    if (candidate.name == planned.worker) worker->planned = &candidate;
  if (worker->planned == nullptr) throw Error(fmt::format("the plan has no worker '{}'", planned.worker));
  worker->device_set = planned.device_set;
  workers_.push_back(std::move(worker));
  return *workers_.back();
}

void Supervisor::begin(Job& job, bool hold) {
  job.worker = &worker_for(*job.planned);
  job.hold = hold;
  job.id = next_id_++;
  job.started_at = utc_now();
  Worker& worker = *job.worker;
  if (!worker.planned->problem.empty()) return fail_without_worker(job, {"start", worker.planned->problem, {}});
  if (!job.planned->reason.empty()) return fail_without_worker(job, {job.planned->reason, job.planned->text, {}});
  if (failed_starts_[worker.planned->name] >= give_up_after_failed_starts) {
    Failure failure = last_start_failure_[worker.planned->name];
    failure.detail += fmt::format(" (not tried again after {} failed starts)", give_up_after_failed_starts);
    return fail_without_worker(job, failure);
  }
  if (!worker.child || !worker.child->running()) start(worker, job);
  if (job.state != Job::State::done && worker.greeted) send_case(job);
}

void Supervisor::start(Worker& worker, Job& job) {
  if (worker.child) report_event("worker_exit", nullptr, worker, "the worker left between two cases");
  worker.process = ++processes_[device_set_name(worker.device_set)];
  worker.greeted = false;
  worker.served.clear();
  worker.started_ns = monotonic_ns();
  try {
    // What is measured must be the program that the plan names; one that is gone fails to start, which says so.
    if (std::error_code unknown; std::filesystem::exists(worker.planned->path, unknown) &&
                                 file_xxh3(worker.planned->path) != worker.planned->binary_xxh3)
      throw Error(fmt::format("the program of worker {} was changed during the run", worker.planned->name));
    worker.child = std::make_unique<Child>(worker.planned->path, std::vector<std::string>{});
  } catch (const Error& problem) {  // also when no process or no descriptor is free: this case, not the run
    worker.child.reset();
    ++failed_starts_[worker.planned->name];
    last_start_failure_[worker.planned->name] = {"start", problem.what(), {}};
    return fail_without_worker(job, last_start_failure_[worker.planned->name]);
  }
  report_event("worker_start", &job, worker, fmt::format("assay-worker-{} started", worker.planned->name));
  if (!worker.child->running()) fail(job, failure_of_end(job));
}

void Supervisor::send_case(Job& job) {
  CaseRequest request;
  request.id = job.id;
  request.case_name = job.planned->name;
  request.device_set = job.planned->device_set;
  request.session = job.session;
  request.hold = job.hold;
  request.policy = plan_.policy;
  if (!job.worker->served.empty()) job.worker->child->forget_errors();  // they are of the cases before
  job.oom_kills = job.worker->child->oom_kills();
  job.sent_ns = job.heard_ns = monotonic_ns();
  job.state = Job::State::sent;
  // A worker that doesn't take it has ended or will be too late; both show in the loop.
  job.worker->child->send(line(to_json(request)));
}

void Supervisor::poll_once(Step& step) {
  std::vector<pollfd> fds{{InterruptGuard::wake_fd(), POLLIN, 0}};
  double wait_s = std::max(0.0, telemetry_period_s - seconds_since(telemetry_ns_));
  for (const Job& job : step) {
    if (job.state == Job::State::done) continue;
    const Child& child = *job.worker->child;
    for (const int fd : {child.message_fd(), child.error_fd(), child.exit_fd()})
      if (fd >= 0) fds.push_back({fd, POLLIN, 0});
    const double limit =
        job.state == Job::State::waiting_for_hello ? plan_.patience.start_s : plan_.patience.heartbeat_s;
    wait_s = std::min({wait_s, limit / 4, job.planned->deadline_s / 4});
    if (job.state == Job::State::stopping) wait_s = std::min(wait_s, child.step_left_s());
    if (job.closed_ns != 0) wait_s = std::min(wait_s, closed_patience_s / 4);
    if (child.exit_fd() < 0) wait_s = std::min(wait_s, 0.05);  // an old kernel without pidfd
  }
  poll(fds.data(), fds.size(), static_cast<int>(wait_s * 1000) + 1);
  for (Job& job : step)
    if (job.state != Job::State::done) listen(job);
}

void Supervisor::listen(Job& job) {
  if (job.state == Job::State::stopping) return after_stop(job);
  Child& child = *job.worker->child;
  const bool ended = !child.running();  // asked before reading: what it said before its end is then all there
  child.receive_errors();
  std::vector<std::string> lines;
  bool open = child.receive(lines);
  for (int more = 0; ended && open && more < 16; ++more) open = child.receive(lines);
  for (const std::string& text : lines) {
    if (job.state == Job::State::done) {
      report_event("warning", &job, *job.worker, "a message after the end of the case was dropped");
      break;
    }
    try {
      handle(job, text);
    } catch (const StoreError&) {
      throw;  // not the worker's fault: the run ends, and --resume measures this case
    } catch (const Error& problem) {
      return fail(job, {"protocol", problem.what(), {}});
    }
  }
  if (job.state == Job::State::done) return;
  if (child.message_too_long()) return fail(job, {"protocol", "a line longer than 16 MiB", {}});
  if (ended) return fail(job, failure_of_end(job));
  // The end of its messages is often seen a moment before the end of the process.
  if (!open && job.closed_ns == 0) job.closed_ns = monotonic_ns();
  if (!open && seconds_since(job.closed_ns) > closed_patience_s)
    fail(job, {"protocol", "it closed its message descriptor", {}});
}

void Supervisor::handle(Job& job, const std::string& text) {
  const Message message = parse_message(text);
  if (job.worker->served.count(message.id) > 0) {  // a late word about a case before this one
    if (!job.dropped) report_event("warning", &job, *job.worker, "a message about an earlier case was dropped");
    job.dropped = true;
    return;
  }
  job.heard_ns = monotonic_ns();
  if (message.type == MessageType::hello) {
    if (job.worker->greeted) throw Error("a second hello");
    greet(*job.worker, message);
    return send_case(job);
  }
  if (!job.worker->greeted) throw Error("a message before its hello");
  if (message.id != job.id) throw Error(fmt::format("a message for case {} while {} is under way", message.id, job.id));
  if (message.type == MessageType::case_begin) {
    if (job.state != Job::State::sent) throw Error("case_begin at the wrong moment");
    job.state = Job::State::begun;
    return;
  }
  if (job.state == Job::State::sent) throw Error("a message before case_begin");
  switch (message.type) {
    case MessageType::ready:
      if (job.state != Job::State::begun) throw Error("ready at the wrong moment");
      job.state = job.hold ? Job::State::ready : Job::State::going;
      return;
    case MessageType::heartbeat:
      progress_.phase(message.json["phase"].get<std::string>());
      return;
    case MessageType::window:
      if (message.json["value"].is_number())
        progress_.window(
            fmt::format("{} {}", message.json["metric"].get<std::string>(),
                        format_quantity(message.json["value"].get<double>(), message.json["unit"].get<std::string>())));
      return;
    case MessageType::record:
      take_record(job, message);
      return;
    default:  // case_end
      if (!job.record) throw Error("case_end without a record");
      return finish(job);
  }
}

void Supervisor::begin_again(Job& job) {
  job.retried = true;
  job.again = job.dropped = false;
  job.closed_ns = 0;
  job.state = Job::State::waiting_for_hello;
  start(*job.worker, job);
}

void Supervisor::greet(Worker& worker, const Message& message) const {
  const auto schema = message.json["schema"].get<std::string>();
  const auto name = message.json["worker"].get<std::string>();
  if (schema != worker_schema) throw Error(fmt::format("it speaks '{}', this assay '{}'", schema, worker_schema));
  if (name != worker.planned->name) throw Error(fmt::format("it says that it is the worker '{}'", name));
  // What was planned is what the manifest says; another build may do other things under the same names.
  const auto build = [](const std::string& version, const std::string& commit) {
    return version + (commit.empty() ? "" : " (" + commit + ")");
  };
  const std::string here = build(message.json["version"].get<std::string>(), message.json["commit"].get<std::string>());
  const std::string planned = build(worker.planned->version, worker.planned->commit);
  if (here != planned)
    throw Error(
        fmt::format("it is of version {}, but its manifest is of version {}; build the worker again", here, planned));
  worker.greeted = true;
}

void Supervisor::take_record(Job& job, const Message& message) const {
  if (job.record) throw Error("a second record for one case");
  if (job.state == Job::State::ready) throw Error("a record before go");
  Record record = record_from_json(message.json["record"]);
  if (record.case_name != job.planned->name || record.device_set != job.planned->device_set ||
      record.session != job.session || record.worker != job.planned->worker ||
      record.benchmark != job.planned->benchmark)
    throw Error("a record of another case");
  if (record.worker_version != job.worker->planned->version)
    throw Error(fmt::format("a record of the version '{}' of the worker", record.worker_version));
  // Only work that was let go counts: a result without `ready`, or before `go`, was measured at some other time.
  const bool timed =
      record.outcome == Outcome::measured || record.outcome == Outcome::fail || record.outcome == Outcome::invalid;
  if (timed && job.state != Job::State::going) throw Error("a result without ready");
  if (record.seed != plan_.policy.seed && timed) throw Error(fmt::format("a result for the seed {}", record.seed));
  if (timed && record.params != params_of(*job.planned)) throw Error("a result with the parameters of another case");
  const bool simulated = std::any_of(plan_.devices.begin(), plan_.devices.end(), [&](const DeviceInfo& device) {
    return device.id == job.planned->device_set.front() && device.simulated;
  });
  if (record.simulated && !simulated) throw Error("a simulated record of a device that is real");
  // A simulated case has a time of its own. One second more, for a worker that reads another clock.
  if (const double passed_s = seconds_since(job.sent_ns); !simulated && record.wall_s > passed_s + 1)
    throw Error(
        fmt::format("a case of {} that was sent {} ago", format_duration(record.wall_s), format_duration(passed_s)));
  record.simulated = simulated;
  record.process = job.worker->process;
  record.go_ns = job.go_ns;
  if (!job.together.empty()) record.facts.push_back({"started_together", job.together});
  for (const auto& [name, value] : plan_.test_knobs) record.test_knobs[name] = value;
  job.record = std::move(record);
  job.state = Job::State::recorded;
}

void Supervisor::finish(Job& job) {
  Record& record = *job.record;
  const auto found = declared_.find({job.planned->device_set.front(), job.planned->worker, job.planned->benchmark});
  apply_gates(record, found == declared_.end() ? std::vector<Metric>{} : found->second);
  store_.append(record);
  tally_.add(record);
  failed_starts_[job.worker->planned->name] = 0;
  job.worker->served.insert(job.id);
  job.state = Job::State::done;
  progress_.job_end(record, session_text(record.session));
  job.record.reset();
}

void Supervisor::go_together(Step& step) {
  bool any = false;
  for (const Job& job : step) {
    if (!job.hold) return;
    if (job.state == Job::State::ready) any = true;
    // One that skips its case, or failed, is done or has its record: the others don't wait for it.
    else if (job.state != Job::State::done && job.state != Job::State::recorded && job.state != Job::State::going)
      return;
  }
  if (!any) return;
  const std::int64_t at = monotonic_ns() + go_delay_ns;
  const auto ready =
      std::count_if(step.begin(), step.end(), [](const Job& job) { return job.state == Job::State::ready; });
  for (Job& job : step) {
    if (job.state != Job::State::ready) continue;
    job.worker->child->send(line({{"type", "go"}, {"at_monotonic_ns", at}}));
    job.together = fmt::format("{} of {}", ready, step.size());  // a partner may have failed before
    job.go_ns = at;
    job.state = Job::State::going;
    job.sent_ns = job.heard_ns = monotonic_ns();  // its own time begins now
  }
}

void Supervisor::report_event(const char* kind, const Job* job, const Worker& worker, const std::string& text) {
  Event event;
  event.kind = kind;
  event.text = text;
  event.worker = worker.planned->name;
  event.device_set = worker.device_set;
  event.session = session_;
  event.process = worker.process;
  if (worker.child) event.pid = worker.child->pid();
  if (job != nullptr) event.case_name = job->planned->name;
  store_.event(event);
}

void Supervisor::telemetry() {
  if (seconds_since(telemetry_ns_) < telemetry_period_s) return;
  telemetry_ns_ = monotonic_ns();
  store_.telemetry(host_.sample());
}

}  // namespace assay
