// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan: one worker process for each device set and session, watched by one poll() loop in one thread. Every
// required case ends as exactly one record: the worker's own, through the gates, or an ERROR that says how the worker
// failed. Sessions are the outer loop, so that the cases are interleaved and each session has fresh processes. Trap: a
// worker is waited for at most by its deadline, its heartbeat and the time to kill it, never without end; and ending
// one is a state in the loop, too, so that those that measure meanwhile are still heard.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/parent/child.h"
#include "harness/parent/coverage.h"
#include "harness/parent/devices.h"
#include "harness/parent/host.h"
#include "harness/parent/interrupt.h"
#include "harness/parent/messages.h"
#include "harness/parent/plan.h"
#include "harness/parent/progress.h"
#include "harness/parent/store.h"

namespace assay {

class Supervisor {
 public:
  // Keeps the references. `tally` knows what is already done (a resumed run) and learns what is done here.
  Supervisor(const Plan& plan, const DeclaredMetrics& declared, Store& store, Progress& progress, CoverageTally& tally);
  ~Supervisor();

  // Numbers of the processes go on after those of earlier records.
  void seen(const Record& record);
  // `after_session`: called when a session is through; may decide cases of the plan, which are then done no further.
  // false: interrupted; everything that was complete is stored.
  bool run(const std::function<void(int session)>& after_session = nullptr);
  std::size_t jobs_left() const;

 private:
  // A worker process and how many there were before it for its device set.
  struct Worker {
    const PlannedWorker* planned = nullptr;
    std::vector<std::string> device_set;
    std::unique_ptr<Child> child;
    int process = 0;
    bool greeted = false;
    std::set<std::uint64_t> served;  // cases that it has brought to their end
    std::int64_t started_ns = 0;
  };
  // A case under way.
  struct Job {
    const PlannedCase* planned = nullptr;
    std::size_t index = 0;
    int session = 1;
    Worker* worker = nullptr;
    std::uint64_t id = 0;
    // `stopping`: it has failed; its worker is being ended, then `failure` is stored, or it begins `again`.
    enum class State { waiting_for_hello, sent, begun, ready, going, recorded, stopping, done };
    State state = State::waiting_for_hello;
    bool hold = false;
    std::int64_t sent_ns = 0, heard_ns = 0;
    std::int64_t closed_ns = 0;  // when its messages ended
    bool dropped = false;        // late messages, which are reported once
    std::uint64_t oom_kills = 0;
    std::optional<std::int64_t> go_ns;
    bool again = false, retried = false;  // its first worker broke down before it took the case
    Failure failure;
    std::string together;  // "2 of 2": how many of the step got the same go
    std::string started_at;
    std::optional<Record> record;
  };
  using Step = std::vector<Job>;

  std::vector<Step> steps(int session) const;
  // "session 3 of 5"; "" where there is only one.
  std::string session_text(int session) const;
  bool run_step(Step& step);
  void begin(Job& job, bool hold);
  void send_case(Job& job);
  void poll_once(Step& step);
  void listen(Job& job);
  void handle(Job& job, const std::string& text);
  void greet(Worker& worker, const Message& message) const;
  void take_record(Job& job, const Message& message) const;
  void check_patience(Job& job);
  void go_together(Step& step);
  void finish(Job& job);
  // A new worker for a case that the old one, breaking down after an earlier one, never took.
  void begin_again(Job& job);
  // The job's worker is stopped, and once it is, the ERROR record is stored.
  void fail(Job& job, Failure failure);
  void after_stop(Job& job);
  void fail_without_worker(Job& job, const Failure& failure);
  Failure failure_of_end(Job& job) const;
  void store_error(Job& job, const Failure& failure);
  bool wind_down(Step& step);
  void hear_out(Job& job);
  void quit_workers(const Step* except);
  Worker& worker_for(const PlannedCase& planned);
  void start(Worker& worker, Job& job);
  void report_event(const char* kind, const Job* job, const Worker& worker, const std::string& text);
  void telemetry();

  const Plan& plan_;
  const DeclaredMetrics& declared_;
  Store& store_;
  Progress& progress_;
  CoverageTally& tally_;
  HostSampler host_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::map<std::string, int> processes_;      // by device set
  std::map<std::string, int> failed_starts_;  // by worker, in a row
  std::map<std::string, Failure> last_start_failure_;
  std::uint64_t next_id_ = 1;
  std::int64_t telemetry_ns_ = 0;
  int session_ = 0;
};

}  // namespace assay
