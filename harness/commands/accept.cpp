// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay accept [RUN]: is this machine what it should be? Without a run, one is measured first.
#include "harness/verdict/accept.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/arguments.h"
#include "harness/commands/output.h"
#include "harness/commands/run.h"
#include "harness/commands/side_reader.h"
#include "harness/commands/verb.h"
#include "harness/parent/devices.h"
#include "harness/parent/run_data.h"
#include "harness/parent/workers.h"
#include "harness/report/accept.h"
#include "harness/verdict/comparability.h"
#include "harness/verdict/lint.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string help() {
  return R"(assay accept: is this machine what it should be? A verdict on each metric.

usage: assay accept [RUN] [options]

  RUN                  a run folder, or a file that `assay import` reads; without one, this machine is
                       measured first, with the profile `acceptance`: about 45 minutes
  --device ID          as for run, when one is measured
  --out FOLDER         where it is written then (default: ./assay-accept-<UTC>-<pid>)
  --baseline FILE|CLASS   the reference (default: that of the device's class, where there is one)
  --history RUN        an earlier run of the same machine, or a folder of them; may be given again
  --rules FILE|NAME    a contract, or a pack of published gates. `assay list` names the packs, and how
                       many rules of each this version measures: the others are NOT_RUN, but for
                       imported numbers
  --shape TYPE         the machine type that a pack's rules name (nd96isr_h100_v5): without it nothing
                       passes by a rule that is for some types only
  --format console|json|markdown   (default: console)
  -o, --output FILE    write the verdict there; a file that is there is not overwritten

examples
  assay accept
  assay accept my-run --rules contract.toml
  assay accept my-run --rules azure-nhc --format json
  assay accept my-run --history runs-of-this-year

A contract is a file of comparisons; results/README.md explains all its keys:
  name = "order 4711"
  [[rule]]
  case = "memory/stream/op:triad/type:f64/size:dram/threads:all"     # as `assay list` names it
  require = ["bandwidth >= 250 GB/s", "spread of bandwidth <= 3 %"]
  [[rule]]
  devices = 2

Limit, class, peers and history are told each on its own; the class decides, or a contract. Peers
are the devices of the same class in the run: who stands out in its odd sessions and in its even
ones FAILs, who does once is INCONCLUSIVE. A history needs 8 earlier sessions under the same
conditions; it passes nothing, and whoever is slower than it was is not passed. Exit codes: 0 PASS;
1 FAIL; 2 UNKNOWN (no reference), PROVISIONAL (fewer than 8 reference devices), INCONCLUSIVE,
INVALID (simulated, or beyond its limit), NOT_RUN; 3 ERROR.
)";
}

struct AcceptOptions {
  std::string run;                   // "": measure one first, with the profile `acceptance`
  std::vector<std::string> devices;  // as for run, when one is measured
  std::string out;                   // where that goes; "": ./assay-accept-<UTC>-<pid>
  std::string baseline;              // file, or class; "": that of the device's class
  std::string rules;                 // file, or name of a pack; "": none
  std::string shape;                 // machine type; "": not told
  std::vector<std::string> history;  // earlier runs of the same machine, or folders of them
  std::string format = "console";    // console | json | markdown
  std::string output;                // "": standard output
  std::vector<std::string> command_line;
};

// Measures with the profile `acceptance`; the folder of the run. What it could not measure is in its records, and they
// are judged: its exit code adds nothing, but an interruption ends everything.
std::string measure(const AcceptOptions& options, int& interrupted) {
  RunOptions run;
  run.profile = "acceptance";
  run.devices = options.devices;
  run.out = options.out.empty() ? fmt::format("assay-accept-{}-{}", utc_compact(), getpid()) : options.out;
  run.command_line = options.command_line;
  if (command_run(run) == exit_code::interrupted) interrupted = exit_code::interrupted;
  return run.out;
}

std::vector<AcceptedDevice> devices_of(const ReadSide& run, const ClassTable& table, const std::string& baseline) {
  std::map<std::string, Baseline> read;  // by path: a node has eight of a class
  const auto reference = [&](const fs::path& path) -> const Baseline& {
    if (read.count(path.string()) == 0) read[path.string()] = read_sound_baseline(path, table);
    return read.at(path.string());
  };
  std::vector<AcceptedDevice> devices;
  for (const auto& [identity, info] : run.devices) {
    AcceptedDevice device{identity, info.name, class_of(info, table), std::nullopt, std::nullopt, "", ""};
    if (const GpuClass* gpu = table.find(device.match.class_id)) device.gpu = *gpu;
    const auto own = device.match.class_id.empty() ? std::nullopt : find_baseline(device.match.class_id);
    if (!baseline.empty() || own) {
      const Baseline& found = reference(baseline.empty() ? *own : fs::path(baseline));
      const std::string name = baseline.empty() ? own->filename().string() : baseline;
      if (found.class_id == device.match.class_id) {
        device.baseline = found;
        device.baseline_source = name;
      } else {  // it says nothing about this device
        device.match.reason = fmt::format("{}; {} is of class {}", device.match.reason, name, found.class_id);
        device.other_class = found.class_id;
      }
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

// What the machine gave before. A run that isn't comparable with this one, or isn't real, is left out and told; `none`
// is why no run is left.
std::optional<Side> read_history(const std::vector<std::string>& paths, const ReadSide& run, std::string& none) {
  std::vector<std::string> kept;
  for (const std::string& path : with_runs_inside(paths)) {
    const ReadSide earlier = read_side("HISTORY", {path});
    const std::vector<EnvironmentChange> changes = environment_changes(earlier.environment, run.environment, {});
    std::string why = unlike(changes), in_short = "it differs in " + join(unlike_areas(changes), ", ");
    if (earlier.side.run_ids == run.side.run_ids) why = in_short = "it is the run that is judged";
    if (earlier.side.simulated || !earlier.side.test_knobs.empty()) why = in_short = "it measured no real machine";
    if (why.empty()) {
      kept.push_back(path);
      continue;
    }
    fmt::print(stderr, "warning: --history {} is left out: {}\n", plain(path), plain(why));
    none = fmt::format("the earlier run was left out: {}", in_short);
  }
  return kept.empty() ? std::nullopt : std::optional(read_side("HISTORY", kept).side);
}

// Every metric that any worker here has, and what the run itself has.
std::vector<KnownMetric> known_metrics(const Side& side) {
  std::vector<KnownMetric> known;
  std::set<std::pair<std::string, std::string>> seen;  // each device of a run has the same
  const auto add = [&](const std::string& case_name, const std::string& metric, const std::string& unit,
                       Better better) {
    if (seen.emplace(case_name, metric).second) known.push_back({case_name, metric, unit, better});
  };
  for (const auto& [key, metric] : side.metrics) add(key.case_name, key.metric, metric.unit, metric.better);
  for (const WorkerFile& worker : find_workers())
    for (const BenchmarkInfo& benchmark : worker.manifest.benchmarks)
      for (const CaseInfo& info : benchmark.cases)
        for (const Metric& metric : benchmark.metrics) add(info.name, metric.name, metric.unit, metric.better);
  return known;
}

void check_shape(const std::string& shape, const Contract* contract) {
  if (shape.empty()) return;
  std::set<std::string> known;
  if (contract != nullptr)
    for (const Rule& rule : contract->rules) known.insert(rule.shapes.begin(), rule.shapes.end());
  if (known.count(shape) == 0)
    throw UsageError(fmt::format("--shape {}: no rule given is for such a machine type{}", plain(shape),
                                 suggestion(shape, {known.begin(), known.end()})));
}

int command_accept(const AcceptOptions& options) {
  const ClassTable table = read_class_table();
  std::optional<Contract> contract;
  if (!options.rules.empty()) contract = read_contract(options.rules);
  check_shape(options.shape, contract ? &*contract : nullptr);
  const std::string baseline = options.baseline.empty() ? "" : baseline_path(options.baseline).string();
  if (!baseline.empty()) read_sound_baseline(baseline, table);  // complains before an hour of measuring
  int interrupted = 0;
  const std::string folder = options.run.empty() ? measure(options, interrupted) : options.run;
  if (interrupted != 0) return interrupted;
  const ReadSide read = read_side("RUN", {folder});
  for (const std::string& warning : read.warnings) fmt::print(stderr, "warning: {}\n", plain(warning));
  const std::vector<AcceptedDevice> devices = devices_of(read, table, baseline);
  if (contract) {
    std::set<std::string> classes;
    for (const AcceptedDevice& device : devices) classes.insert(device.match.class_id);
    check_names(*contract, known_metrics(read.side), table, {classes.begin(), classes.end()});
  }
  AcceptSettings settings;
  settings.shape = options.shape;
  const std::optional<Side> history = read_history(options.history, read, settings.no_history);
  const AcceptResult result =
      accept(read.side, devices, contract ? &*contract : nullptr, history ? &*history : nullptr, settings);
  write_output(options.output, [&](std::ostream& out) { write_acceptance(result, options.format, out); });
  return code(result.verdict);
}

int from_command_line(int argc, char** argv) {
  AcceptOptions options;
  options.command_line.assign(argv - 1, argv + argc);
  std::vector<std::string> runs;
  Parser parser("accept");
  parser.positionals(runs);
  parser.texts("--device", options.devices);
  parser.text("--out", options.out);
  parser.text("--baseline", options.baseline);
  parser.text("--rules", options.rules);
  parser.text("--shape", options.shape);
  parser.texts("--history", options.history);
  parser.text("--format", options.format);
  parser.text("-o,--output", options.output);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, acceptance_formats());
  if (runs.size() > 1) throw UsageError("accept judges one run; see `assay help accept`");
  if (!runs.empty()) options.run = runs.front();
  for (const char* measuring : {"--device", "--out"})
    if (!runs.empty() && parser.given(measuring))
      throw UsageError(fmt::format("{} is for measuring: leave it out with a RUN", measuring));
  for (const std::string& device : options.devices)
    if (is_rehearsal(device.substr(0, device.find(':'))))
      throw UsageError("a simulated device can't be accepted; rehearse with `assay run --device " + plain(device) +
                       "`");
  return command_accept(options);
}

}  // namespace

extern const Verb accept_verb{"accept",
                              "is it what it should be? a verdict by the reference of its class, or by a contract",
                              help, from_command_line};

}  // namespace assay
