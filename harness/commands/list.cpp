// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay list: the listing of list_data.h as a table for people or as JSON (schema results/schema/list.v1.json).
// Exit code 0 also when a worker can't run: that is what was asked for, and it is said. With --probe a worker that
// doesn't answer is an ERROR (3). Whatever files, workers and devices say reaches a terminal through plain() only.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "harness/base/error.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/build_info.h"
#include "harness/commands/arguments.h"
#include "harness/commands/list_data.h"
#include "harness/commands/list_model.h"
#include "harness/commands/list_tables.h"
#include "harness/commands/verb.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay list: what could be measured here, and what not, and why; and what it can be judged by.

usage: assay list [options]
       assay list --classes PATTERN | --rules NAME
       assay list --model BENCHMARK --class ID [--format console|json]

  --format console|json   (default: console)
  --device ID             as for run; may be given again
  --probe                 start the workers and ask them; otherwise nothing is started. Exits with 3
                          when one of them doesn't answer
  --hidden                also benchmarks that exist for tests of Assay itself
  --classes PATTERN       the classes of GPUs whose name has this in it (* matches anything), with
                          what each can do at most
  --rules NAME            the rules of a pack (or of a contract file) one by one
  --model BENCHMARK       what its CUDA kernels could reach on a class of GPUs at most, by formula: limits,
                          occupancy, bytes under way, tiles; with what others published. No measurement
  --class ID              the class, or as much of its name as only one has

Each device is shown with its class (as `assay baseline match` says it), each baseline with whether
it is a REFERENCE or PROVISIONAL, each pack of published gates with its rules. Quarantined are
published rows that can't be what was meant: they judge nothing.

examples
  assay list
  assay list --classes h100
  assay list --rules azure-nhc
  assay list --model memory/stream --class h100_sxm5_80gb
  assay list --format json
)";
}

Json worker_json(const ListedWorker& w) {
  return {{"name", w.name},
          {"path", w.path},
          {"version", w.version},
          {"commit", w.commit},
          {"status", word(w.problem.empty() ? Status::available : Status::error)},
          {"reason", text_or_null(w.problem)},
          {"devices", w.devices},
          {"built", w.built},
          {"benchmarks", w.benchmarks},
          {"cases", w.cases}};
}

Json benchmark_json(const ListedBenchmark& b) {
  Json metrics = Json::array(), cases = Json::array();
  for (const Metric& metric : b.info.metrics) metrics.push_back(to_json(metric));
  for (const ListedCase& c : b.cases)
    cases.push_back({{"name", c.name},
                     {"worker", c.worker},
                     {"status", word(c.status)},
                     {"reason", text_or_null(c.reason)},
                     {"device", text_or_null(c.device)}});
  return {{"name", b.info.name},       {"summary", b.info.summary}, {"hidden", b.info.hidden},
          {"devices", b.info.devices}, {"metrics", metrics},        {"cases", cases}};
}

template <class T, class Convert>
Json list_of(const std::vector<T>& items, Convert convert) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(convert(item));
  return result;
}

// --- for people ------------------------------------------------------------------------------------------------------

std::string about(const DeviceInfo& device) {
  std::vector<std::string> parts;
  const auto count = [&](const char* fact, const char* what) {
    if (const double value = device.fact(fact); value > 0) parts.push_back(counted(std::llround(value), what));
  };
  const auto bytes = [&](const char* fact, const char* what) {
    if (const double value = device.fact(fact); value > 0)
      parts.push_back(fmt::format("{} {}", what, format_bytes(value)));
  };
  count("cpus", "CPU");
  count("sockets", "socket");
  count("numa_nodes", "NUMA node");
  bytes("cache.l1d_bytes", "L1");
  bytes("cache.l2_bytes", "L2");
  bytes("cache.l3_bytes", "L3");
  bytes("memory_bytes", "memory");
  if (!device.pci_address.empty()) parts.push_back("PCI " + device.pci_address);
  if (const auto driver = device.labels.find("driver"); driver != device.labels.end())
    parts.push_back("driver " + driver->second);
  return join(parts, ", ");
}

void print_devices(const Listing& listing, std::ostream& out) {
  out << "Devices\n";
  bool gpu = false;
  for (std::size_t i = 0; i < listing.devices.size(); ++i) {
    const DeviceInfo& device = listing.devices[i];
    const ClassMatch& match = listing.judges.matches[i].match;
    gpu = gpu || device.kind == "cuda";
    out << fmt::format("  {:<8} {}{}\n           {}\n", plain(device.id), plain(device.name),
                       device.simulated ? " (simulated)" : "", plain(about(device)));
    out << (match.outcome == Outcome::match
                ? fmt::format("           class {}; {}\n", plain(match.class_id), baseline_text(match))
                : fmt::format("           class UNKNOWN: {}\n", plain(match.reason)));
  }
  out << fmt::format("  {}{}\n", gpu ? "" : "no NVIDIA GPU on the PCI bus; ", plain(listing.nvml.detail));
}

void print_workers(const Listing& listing, std::ostream& out) {
  out << "\nWorkers\n";
  for (const ListedWorker& worker : listing.workers) {
    if (!worker.problem.empty()) {
      out << fmt::format("  {:<8} ERROR: {}\n", plain(worker.name), plain(worker.problem));
      continue;
    }
    std::vector<std::string> built;
    for (const auto& [library, version] : worker.built)
      built.push_back(version.empty() ? "without " + library : "with " + library + " " + version);
    out << fmt::format("  {:<8} {}, {} for {} devices{}{}\n", plain(worker.name),
                       counted(worker.benchmarks, "benchmark"), counted(worker.cases, "case"),
                       plain(join(worker.devices, ", ")), built.empty() ? "" : "; ", plain(join(built, ", ")));
  }
  if (listing.workers.empty())
    out << "  none, so nothing can be measured: build them (cmake --build build), or name their folder with "
           "ASSAY_WORKER_DIR\n";
  for (const Probed& probe : listing.probes) {
    out << fmt::format("  {:<8} asked: {}\n", plain(probe.worker),
                       probe.problem.empty() ? "it answers" : "ERROR: " + plain(probe.problem));
    for (const DeviceInfo& device : probe.devices)
      out << fmt::format("           {} {}\n", plain(device.id), plain(device.name));
  }
}

// "op:read|write|copy type:f32|f64", each parameter with the values it takes, in order of appearance.
std::string parameters(const ListedBenchmark& benchmark) {
  std::vector<std::pair<std::string, std::vector<std::string>>> values;
  for (const ListedCase& c : benchmark.cases)
    for (const std::string& part : split(c.name, '/')) {
      const std::size_t colon = part.find(':');
      if (colon == std::string::npos) continue;
      const std::string name = part.substr(0, colon), value = part.substr(colon + 1);
      auto known = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
      if (known == values.end()) known = values.insert(values.end(), {name, {}});
      if (std::find(known->second.begin(), known->second.end(), value) == known->second.end())
        known->second.push_back(value);
    }
  std::vector<std::string> parts;
  for (const auto& [name, list] : values) parts.push_back(name + ":" + join(list, "|"));
  return join(parts, "  ");
}

void print_benchmark(const ListedBenchmark& benchmark, std::ostream& out) {
  out << fmt::format("  {}  {}\n", plain(benchmark.info.name), plain(benchmark.info.summary));
  std::vector<std::string> metrics;
  for (const Metric& metric : benchmark.info.metrics)
    metrics.push_back(fmt::format("{} ({}, {} is better)", metric.name, metric.unit, word(metric.better)));
  out << "      " << plain(join(metrics, ", ")) << '\n';
  std::size_t available = 0;
  std::vector<std::pair<std::string, int>> reasons;
  for (const ListedCase& c : benchmark.cases) {
    if (c.status == Status::available) {
      ++available;
      continue;
    }
    const std::string reason = std::string(c.status == Status::error ? "ERROR: " : "not applicable: ") + c.reason;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == reason; });
    if (known == reasons.end())
      reasons.emplace_back(reason, 1);
    else
      ++known->second;
  }
  out << fmt::format("      {} of {} available", available, counted(benchmark.cases.size(), "case"));
  const std::string values = parameters(benchmark);
  out << (values.empty() ? "" : "   " + plain(values)) << '\n';
  for (const auto& [reason, count] : reasons) out << fmt::format("      {} {}\n", count, plain(reason));
}

void print_build(std::ostream& out) {
  const BuildInfo& build = build_info();
  out << fmt::format("\nBuild: assay {} {}, {}, {}, {}\n", build.version, build.commit, build.compiler,
                     build.build_type, build.architecture);
  for (const BuildFeature& feature : build.features)
    out << fmt::format("  {:<10} {:<3}  {}\n", feature.name, feature.on ? "on" : "off", feature.text);
}

}  // namespace

Json to_json(const Listing& listing) {
  const BuildInfo& build = build_info();
  return {{"schema", "assay.list.v1"},
          {"version", build.version},
          {"commit", build.commit},
          {"features", list_of(build.features,
                               [](const BuildFeature& f) {
                                 return Json{{"name", f.name}, {"on", f.on}, {"text", f.text}};
                               })},
          {"nvml", {{"loaded", listing.nvml.loaded}, {"detail", listing.nvml.detail}}},
          {"workers", list_of(listing.workers, worker_json)},
          {"devices", list_of(listing.devices, [](const DeviceInfo& d) { return to_json(d); })},
          {"profiles", list_of(listing.profiles,
                               [](const ListedProfile& p) {
                                 const bool read = p.problem.empty();
                                 return Json{{"name", p.name},
                                             {"summary", p.summary},
                                             {"sessions", read ? Json(p.sessions) : Json(nullptr)},
                                             {"problem", text_or_null(p.problem)}};
                               })},
          {"benchmarks", list_of(listing.benchmarks, benchmark_json)},
          {"probes", list_of(listing.probes,
                             [](const Probed& p) {
                               return Json{
                                   {"worker", p.worker},
                                   {"ok", p.problem.empty()},
                                   {"detail", p.problem},
                                   {"devices", list_of(p.devices, [](const DeviceInfo& d) { return to_json(d); })}};
                             })},
          {"judges", to_json(listing.judges)}};
}

void print_listing(const Listing& listing, std::ostream& out) {
  print_devices(listing, out);
  print_workers(listing, out);
  print_judges(listing.judges, out);
  out << "\nProfiles (assay run --profile NAME)\n";
  for (const ListedProfile& profile : listing.profiles)
    if (profile.problem.empty())
      out << fmt::format("  {:<12} {:>2} session{}  {}\n", plain(profile.name), profile.sessions,
                         profile.sessions == 1 ? " " : "s", plain(profile.summary));
    else
      out << fmt::format("  {:<12} ERROR: {}\n", plain(profile.name), plain(profile.problem));
  out << "\nBenchmarks (assay run --filter REGEX)\n";
  for (const ListedBenchmark& benchmark : listing.benchmarks) print_benchmark(benchmark, out);
  out << "\n  Not every combination of values is a case: assay run --filter REGEX --dry-run names those that are.\n";
  print_build(out);
}

namespace {

int command_list(const ListOptions& options) {
  const Listing listing = gather(options);
  if (options.format == "json")
    std::cout << printed(to_json(listing), 2) << '\n';
  else
    print_listing(listing, std::cout);
  std::cout.flush();
  if (!std::cout) throw Error("cannot write to standard output");
  const bool answered = std::all_of(listing.probes.begin(), listing.probes.end(),
                                    [](const Probed& probe) { return probe.problem.empty(); });
  return answered ? exit_code::pass : exit_code::error;
}

int from_command_line(int argc, char** argv) {
  ListOptions options;
  std::string classes, rules, modelled, modelled_class;
  Parser parser("list");
  parser.text("--format", options.format);
  parser.texts("--device", options.devices);
  parser.flag("--probe", options.probe);
  parser.flag("--hidden", options.hidden);
  parser.text("--classes", classes);
  parser.text("--rules", rules);
  parser.text("--model", modelled);
  parser.text("--class", modelled_class);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, {"console", "json"});
  if (!modelled.empty() || !modelled_class.empty()) {
    if (modelled.empty() || modelled_class.empty())
      throw UsageError("--model and --class belong together: --model memory/stream --class h100_sxm5_80gb");
    for (const char* other : {"--device", "--probe", "--hidden", "--classes", "--rules"})
      if (parser.given(other)) throw UsageError(fmt::format("--model prints a page of its own: leave {} out", other));
    return print_model_page(modelled, modelled_class, options.format, std::cout);
  }
  if (!classes.empty() || !rules.empty()) {
    for (const char* other : {"--format", "--device", "--probe", "--hidden"})
      if (parser.given(other))
        throw UsageError(fmt::format("--classes and --rules print a table: leave {} out", other));
    if (!classes.empty() && !rules.empty()) throw UsageError("--classes and --rules are two tables: name one");
    return classes.empty() ? print_rules(rules, std::cout) : print_classes(classes, std::cout);
  }
  return command_list(options);
}

}  // namespace

extern const Verb list_verb{"list", "benchmarks, cases, metrics, devices, profiles, workers, references", help,
                            from_command_line};

}  // namespace assay
