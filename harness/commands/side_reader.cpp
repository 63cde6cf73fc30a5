// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See side_reader.h.
#include "harness/commands/side_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/import/import.h"
#include "harness/parent/coverage.h"
#include "harness/parent/gates.h"
#include "harness/parent/run_data.h"
#include "harness/report/formats.h"
#include "harness/verdict/comparability.h"

namespace assay {
namespace {

// The CPU is described in the environment already.
Json device_facts(const std::map<std::string, DeviceInfo>& devices) {
  Json facts = Json::object();
  for (const auto& [identity, device] : devices) {
    if (device.kind == "cpu") continue;
    facts["name"][identity] = device.name;
    for (const auto& [fact, value] : device.facts) facts[fact][identity] = number(value);
    for (const auto& [label, value] : device.labels) facts[label][identity] = value;
  }
  return facts;
}

// What the files say about themselves; Assay's own build doesn't matter for them.
Json import_facts(const ImportSource& source) {
  std::map<std::string, std::map<std::string, std::size_t>> said;  // name -> value -> files
  for (const ImportedFile& file : source.files) {
    ++said["tool_version"][file.tool_version];
    for (const auto& [name, value] : file.environment) ++said[name][value];
  }
  Json facts{{"format", source.format}};
  for (const auto& [name, values] : said) {
    std::string text;
    for (const auto& [value, files] : values)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", value, counted(files, "file"));
    facts[name] = values.size() == 1 ? values.begin()->first : mixed_prefix + shown(text);
  }
  return facts;
}

Json environment_of(const RunData& run, const std::map<std::string, DeviceInfo>& devices) {
  Json workers = Json::object();
  for (const PlannedWorker& worker : run.plan.workers)
    workers[worker.name] = {{"version", worker.version}, {"commit", worker.commit}};
  Json environment = {{"workers", workers},
                      {"device", device_facts(devices)},
                      {"plan",
                       {{"profile", run.plan.profile},
                        {"policy", to_json(run.plan.policy)},
                        {"devices_at_once", run.plan.concurrent && devices.size() > 1}}}};
  if (run.plan.imported) {
    environment["import"] = import_facts(*run.plan.imported);
  } else if (run.run.is_object()) {
    environment["environment"] = run.run.at("environment");
    environment["build"] = run.run.at("build");
  } else {  // two things that nobody knows are not the same
    environment["environment"] = {{"unknown", "run " + run.plan.run_id + " was cut before it could say"}};
  }
  return environment;
}

std::map<std::string, DeviceInfo> devices_of(const RunData& run, const std::string& host) {
  std::map<std::string, DeviceInfo> devices;
  for (const DeviceInfo& device : run.plan.devices) devices.emplace(device_identity(device, host), device);
  return devices;
}

// Its first `sessions` sessions.
void add_run(const RunData& run, int sessions, const std::string& host, SideBuilder& builder,
             std::vector<std::string>& warnings) {
  if (const std::string why = why_unfit(run); !why.empty()) throw Error(why);
  builder.begin_run(run.plan.run_id, run.plan.devices, host);
  for (const PlannedCase& planned : run.plan.cases)
    if (planned.coverage == Coverage::required && !run.plan.imported)
      builder.require(planned.name, planned.benchmark, planned.device_set,
                      std::min(sessions, run.plan.sessions_of(planned)));
  if (run.plan.imported)
    for (const ImportedFile& file : run.plan.imported->files) builder.imported_from(file.xxh3);
  CoverageTally tally(run.plan);
  const RecordsEnd end = tally_records(run, tally, [&](std::int64_t, Record&& record) {
    if (record.session > sessions) return;
    if (run.plan.imported) builder.require_recorded(record);
    builder.add(record);
  });
  builder.end_run();
  // A run whose own word isn't what its records say was altered; a verdict on it would be worth nothing.
  if (const Judged judged = judge(run, tally.counts()); !judged.warning.empty())
    throw Error(fmt::format("{}: {}", run.folder.string(), judged.warning));
  if (!end.warning.empty()) warnings.push_back(end.warning);
  if (run.run.is_null()) warnings.push_back(fmt::format("{} was cut before its end", run.folder.string()));
}

// A file of another tool, without a folder in between. Returns it without its records. `one_process`: what to know when
// no other file adds sessions to it.
RunData add_import(const std::string& path, SideBuilder& builder, std::vector<std::string>& warnings,
                   std::string& one_process) {
  ImportedRun run = import_file(path);
  builder.begin_run(run.plan.imported->files.front().xxh3, run.plan.devices);  // the same file twice is the same run
  for (const ImportedFile& file : run.plan.imported->files) builder.imported_from(file.xxh3);
  for (Record& record : run.records) {
    apply_gates(record);
    builder.require_recorded(record);
    builder.add(record);
  }
  builder.end_run();
  warnings.insert(warnings.end(), run.notes.begin(), run.notes.end());
  one_process = run.one_process;
  return {path, std::move(run.plan), nullptr};
}

// "before (2026-11-30T17:05:01Z, 5 sessions)"
std::string title_of(const std::vector<std::string>& paths, const std::string& when, const Side& side) {
  std::size_t sessions = 0;
  for (const auto& [key, metric] : side.metrics) sessions = std::max(sessions, metric.seconds.size());
  return fmt::format("{}{} ({}{})", paths.front(),
                     paths.size() > 1 ? fmt::format(" and {} more", paths.size() - 1) : "",
                     when.empty() ? "" : when + ", ", counted(sessions, "session"));
}

}  // namespace

std::string why_unfit(const RunData& run) {
  if (!run.plan.imported || run.run.is_object()) return {};
  return fmt::format("{} is an import that was cut before its end: import the files again into another folder",
                     run.folder.string());
}

std::string host_of(const RunData& run) {
  if (run.plan.imported) return {};
  if (!run.run.is_object()) return run.plan.origin.host;  // it was cut
  const Json& host = run.run.at("environment").at("host");
  return host.is_string() ? host.get<std::string>() : run.plan.origin.host;
}

std::vector<std::string> with_runs_inside(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  const auto is_run = [](const fs::path& folder) {
    std::error_code unreadable;
    return fs::exists(folder / "plan.json", unreadable);
  };
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    std::vector<std::string> inside, others;
    std::error_code unreadable;
    if (fs::is_directory(path, unreadable) && !is_run(path)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(path, unreadable)) {
        if (is_run(entry.path()))
          inside.push_back(entry.path().string());
        else if (fs::is_directory(entry.path(), unreadable) || is_importable(entry.path().string()))
          others.push_back(entry.path().string());
      }
      if (unreadable) throw Error(fmt::format("cannot read {}: {}", path, unreadable.message()));
    }
    std::sort(inside.begin(), inside.end());
    std::sort(others.begin(), others.end());
    if (!inside.empty() && !others.empty())
      throw Error(
          fmt::format("{} has runs in it, and {}, which is none that can be read; name the runs one by one, or "
                      "take it away",
                      path, others.front()));
    if (inside.empty()) inside.push_back(path);  // whoever reads it complains
    runs.insert(runs.end(), inside.begin(), inside.end());
  }
  return runs;
}

ReadSide read_side(const std::string& name, const std::vector<std::string>& paths, bool across_hosts) {
  ReadSide result;
  SideBuilder builder;
  std::string when, one_process;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    RunData run;
    std::string host;
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(paths[i], unreadable)) {
      run = add_import(paths[i], builder, result.warnings, one_process);
    } else {
      run = read_run(paths[i]);
      if (i == 0 && !run.plan.imported) when = run.plan.created_at;
      host = across_hosts ? "" : host_of(run);
      add_run(run, most_sessions, host, builder, result.warnings);
    }
    std::map<std::string, DeviceInfo> devices = devices_of(run, host);
    const Json environment = environment_of(run, devices);
    result.devices.merge(devices);
    if (i == 0) {
      result.environment = environment;
      continue;
    }
    if (const std::string why = unlike(environment_changes(result.environment, environment, {})); !why.empty())
      throw Error(fmt::format("{} and {} are no one side of a comparison ({}): {}", paths[0], paths[i], name, why));
  }
  result.side = builder.finish();
  if (paths.size() == 1 && !one_process.empty()) result.warnings.push_back(name + ": " + one_process);
  result.title = title_of(paths, when, result.side);
  return result;
}

Json environment_of(const RunData& run, bool across_hosts) {
  return environment_of(run, devices_of(run, across_hosts ? "" : host_of(run)));
}

Side side_through(const RunData& run, int sessions, bool across_hosts) {
  SideBuilder builder;
  std::vector<std::string> warnings;
  add_run(run, sessions, across_hosts ? "" : host_of(run), builder, warnings);
  return builder.finish();
}

}  // namespace assay
