// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay-worker-fake: scripted devices on a virtual clock, for tests of everything that stands on records. The scenario
// comes with the device's name (`fake:FILE.toml`, `fake:default`), so one worker plays them all. What a scripted fault
// does to the process is done here; what it does to a record, in fake.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/test_knobs.h"
#include "harness/build_info.h"
#include "harness/worker/fake.h"
#include "harness/worker/worker.h"

namespace {

using namespace assay;

[[noreturn]] void wait_for_the_end() {
  for (;;) pause();
}

// A line on the protocol's descriptor that the protocol knows nothing of; -1 (started by hand): standard output.
void say(int fd, const std::string& text) {
  const std::string line = text + "\n";
  if (write(fd < 0 ? STDOUT_FILENO : fd, line.data(), line.size()) < 0) std::perror("assay-worker-fake");
}

class FakeWorker {
 public:
  explicit FakeWorker(int fd) : fd_(fd) {}

  // Never throws: an exception is the end of this case only.
  Record run_case(const CaseRequest& request, Link& link) {
    try {
      return play(scenario_of(request), request, link, stage_for(request));
    } catch (const std::exception& problem) {
      Record record;
      record.case_name = request.case_name;
      record.worker = "fake";
      record.worker_version = build_info().version;
      record.device_set = request.device_set;
      record.simulated = true;
      record.session = request.session;
      record.started_at = utc_now();
      record.reason = problem.what();
      record.failure = Failure{"exception", problem.what(), {}};
      return record;
    }
  }

 private:
  const Scenario& scenario_of(const CaseRequest& request) {
    const std::string id = request.device_set.empty() ? "" : request.device_set.front();
    const auto known = scenarios_.find(id);
    return known != scenarios_.end() ? known->second : scenarios_.emplace(id, read_scenario(id)).first->second;
  }

  FakeStage stage_for(const CaseRequest& request) {
    const TestKnobs knobs = read_test_knobs();
    FakeStage stage;
    stage.cases_before = cases_++;
    stage.slowdown = knobs.slowdown;
    stage.corrupt = knobs.corrupt;
    stage.test_knobs = knobs.as_text();
    stage.strike = [this, id = request.id](const FakeFault& fault) { strike(fault, id); };
    return stage;
  }

  void strike(const FakeFault& fault, std::uint64_t id) const {
    if (!fault.error_output.empty()) std::fprintf(stderr, "%s\n", fault.error_output.c_str());
    switch (fault.kind) {
      case FakeFaultKind::crash:
        std::signal(fault.signal, SIG_DFL);
        std::raise(fault.signal);
        wait_for_the_end();
      case FakeFaultKind::exit:
        _exit(fault.exit_code);
      case FakeFaultKind::hang:
        wait_for_the_end();
      case FakeFaultKind::silent:
        std::raise(SIGSTOP);
        wait_for_the_end();
      case FakeFaultKind::garbage:
        say(fd_, fault.text.empty() ? "no message at all" : fault.text);
        return;
      case FakeFaultKind::missing_record:
        say(fd_, fmt::format(R"({{"type":"case_end","id":{}}})", id));
        wait_for_the_end();
      default:
        return;  // the others are in the record, or thrown by play()
    }
  }

  int fd_;
  std::uint64_t cases_ = 0;
  std::map<std::string, Scenario> scenarios_;
};

// The descriptor that worker_main will speak on; it checks the number.
int protocol_descriptor(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--assay-fd") == 0) return std::atoi(argv[i + 1]);
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  FakeWorker worker(protocol_descriptor(argc, argv));
  WorkerProgram program;
  program.manifest = fake_manifest(read_scenario("fake:default"));
  program.devices = [] { return fake_devices("fake:default"); };
  program.probes = {{"scenario", [] { return read_scenario("fake:default").name + " reads well"; }}};
  program.run_case = [&worker](const CaseRequest& request, Link& link) { return worker.run_case(request, link); };
  program.default_device = "fake:default";
  return worker_main(argc, argv, program);
}
