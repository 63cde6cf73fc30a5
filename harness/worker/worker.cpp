// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See worker.h: the choice between protocol, information and Google Benchmark.
#include "harness/worker/worker.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

namespace assay {
namespace {

int write_manifest(const std::string& path, const WorkerProgram& program) {
  const std::string text = to_json(program.manifest).dump(1) + "\n";
  if (path == "-")
    std::fputs(text.c_str(), stdout);
  else
    write_file_atomically(path, text);
  return exit_code::pass;
}

int print_devices(const WorkerProgram& program) {
  Json devices = Json::array();
  for (const DeviceInfo& device : program.devices()) devices.push_back(to_json(device));
  const Json answer{{"schema", "assay.devices.v1"}, {"worker", program.manifest.worker}, {"devices", devices}};
  std::puts(line(answer).c_str());
  return exit_code::pass;
}

int print_probe(const std::string& name, const WorkerProgram& program) {
  std::vector<std::string> names;
  for (const Probe& probe : program.probes) {
    names.push_back(probe.name);
    if (probe.name != name) continue;
    Json answer{{"schema", "assay.probe.v1"},
                {"worker", program.manifest.worker},
                {"probe", name},
                {"ok", true},
                {"detail", ""}};
    try {
      answer["detail"] = probe.run();
    } catch (const std::exception& problem) {
      answer["ok"] = false;
      answer["detail"] = problem.what();
    }
    std::puts(line(answer).c_str());
    return answer["ok"] ? exit_code::pass : exit_code::error;
  }
  throw UsageError(fmt::format("no probe named '{}'{}", name, suggestion(name, names)));
}

int print_shown(const std::string& device, const WorkerProgram& program) {
  if (!program.show) throw UsageError("--show is for workers of GPUs");
  Json facts = Json::array();
  for (const ShownFact& fact : program.show(device)) facts.push_back(to_json(fact));
  const Json answer{
      {"schema", "assay.shown.v1"}, {"worker", program.manifest.worker}, {"device", device}, {"facts", facts}};
  std::puts(line(answer).c_str());
  return exit_code::pass;
}

int dispatch_worker(int argc, char** argv, const WorkerProgram& program) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto value = [&](std::size_t i) {
    if (i + 1 >= arguments.size()) throw UsageError(fmt::format("{} needs a value", arguments[i]));
    return arguments[i + 1];
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--assay-fd") {
      char* end = nullptr;
      const std::string text = value(i);
      const long fd = std::strtol(text.c_str(), &end, 10);
      if (text.empty() || *end != '\0' || fd < 3 || fd > 65535)
        throw UsageError(fmt::format("--assay-fd {}: not a descriptor", text));
      return serve(static_cast<int>(fd), program);
    }
    if (arguments[i] == "--manifest") return write_manifest(value(i), program);
    if (arguments[i] == "--devices") return print_devices(program);
    if (arguments[i] == "--probe") return print_probe(value(i), program);
    if (arguments[i] == "--show") return print_shown(value(i), program);
    if (arguments[i] == "--version") {
      std::printf("assay-worker-%s %s %s\n", program.manifest.worker.c_str(), program.manifest.version.c_str(),
                  program.manifest.commit.c_str());
      return exit_code::pass;
    }
  }
  return run_by_hand(argc, argv, program);
}

}  // namespace

int worker_main(int argc, char** argv, const WorkerProgram& program) {
  open_standard_descriptors();
  try {
    return dispatch_worker(argc, argv, program);
  } catch (const Error& problem) {
    std::fprintf(stderr, "assay-worker-%s: %s\n", program.manifest.worker.c_str(), problem.what());
    return problem.code();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "assay-worker-%s: %s\n", program.manifest.worker.c_str(), problem.what());
    return exit_code::error;
  }
}

}  // namespace assay
