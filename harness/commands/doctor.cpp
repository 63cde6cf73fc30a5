// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay doctor: is the chain from the card to the framework sound, and what is the first thing to do?
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/outcome.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/commands/arguments.h"
#include "harness/commands/doctor_probes.h"
#include "harness/commands/verb.h"
#include "harness/doctor/bundle.h"
#include "harness/doctor/report.h"
#include "harness/verdict/classes.h"

extern char** environ;

namespace assay {
namespace {

using doctor::Answer;
using doctor::Check;
using doctor::Environment;
using doctor::Fact;
using doctor::Known;

std::string help() {
  return R"(assay doctor: why a GPU does not work, or does not work well, and what to do first.

usage: assay doctor [options]

  --format console|json|markdown   (default: console)
  --check ID[,ID...]         only these checks; a layer ("bus") stands for all of its checks
  --skip ID[,ID...]          without these
  --require CONDITIONS       also: gpus>=1,capability>=8.0,driver>=580,cuda>=13.0
  --list                     the checks, and what is so on a sound machine
  --versions                 one screen for a bug report
  --bundle FILE.tar.gz       also write what is known into a file for others: names, addresses, serial
                             numbers and the like are numbered in it, log lines are left out; look at it first
  --from FILE.tar.gz         the report of such a file instead of one of this machine
  --root DIR [--env FILE]    a machine whose files lie below DIR, its environment in FILE (NAME=VALUE)
  --patience SECONDS         how long NVML, and each probe, may take to answer (default: 30)
  --probe-by WORKER          who tries the devices, also where no GPU is seen: cuda (the newest that the driver
                             runs), cuda13, cuda12, simt (a rehearsal: no GPU); none: nobody (default: cuda, where
                             a GPU is seen)

It reads files and asks NVML; it starts no program but our own workers, where a GPU is there, needs no root and no driver, and never waits for a
file system that doesn't answer. With root it also sees ACS and, on many systems, the kernel's log.

examples
  assay doctor
  assay doctor --require 'gpus>=8,capability>=9.0'
  assay doctor --check module,driver --format json
  assay doctor --bundle node17.tar.gz; tar -xzOf node17.tar.gz assay-bundle/facts.json
  assay doctor --from node17.tar.gz

broken: nothing can be computed, or not rightly. degraded: it works, slower or at a risk. Commands are
shown, never run.
Exit code 2: no GPU on the bus, whatever else is found; else 1: something is broken; 2: a link of the
chain could not be looked at; 0: sound, also with what is degraded, and where --check or --skip leave links
out, nothing wrong in the rest; 3: doctor itself failed, or FILE is no bundle; 64: wrong usage.
)";
}

struct DoctorOptions {
  std::string format = "console", root = "/", environment_file, patience = "30";
  std::vector<std::string> check, skip;
  std::string require, bundle, from, probe_by;
  bool list = false, versions = false;
};

Fact<Environment> environment_of(const DoctorOptions& options, bool other_machine) {
  if (!options.environment_file.empty()) {
    // As of any other file: it may lie where nobody answers.
    const doctor::Root here("/", {});
    const Fact<std::string> text = here.text(std::filesystem::absolute(options.environment_file).string());
    if (!text) throw Error(fmt::format("cannot read {}: it {}", shown(options.environment_file), phrase(text.state)));
    const Environment environment = doctor::parse_environment(*text);
    for (const auto& [name, value] : environment)
      if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c > '~'; }))
        throw Error(fmt::format("{} is no list of NAME=VALUE: it has the name '{}'", shown(options.environment_file),
                                shown(name)));
    return Fact<Environment>::of(environment, "environment");
  }
  if (other_machine) return Fact<Environment>::not_known(Known::unreadable, "environment");
  Environment environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    if (const std::size_t equals = text.find('='); equals != std::string::npos)
      environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return Fact<Environment>::of(environment, "environment");
}

bool chosen(const Check& check, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == check.id || name == check.id.substr(0, check.id.find('.')) || name == word(check.layer);
  });
}

std::vector<Check> choose(std::vector<Check> checks, const DoctorOptions& options) {
  std::vector<std::string> known;
  for (const Check& check : checks)
    for (const std::string& name : {check.id, check.id.substr(0, check.id.find('.')), std::string(word(check.layer))})
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  const std::vector<std::string> only = comma_list(options.check), without = comma_list(options.skip);
  for (const std::vector<std::string>* names : {&only, &without})
    for (const std::string& name : *names)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw UsageError(fmt::format("there is no check '{}'{}", shown(name), suggestion(name, known)));
  checks.erase(std::remove_if(checks.begin(), checks.end(),
                              [&](const Check& check) {
                                return (!only.empty() && !chosen(check, only)) || chosen(check, without);
                              }),
               checks.end());
  if (checks.empty()) throw UsageError("--check and --skip leave no check");
  return checks;
}

// Without conditions of --require, which come on top.
std::ptrdiff_t links(const std::vector<Check>& checks) {
  return std::count_if(checks.begin(), checks.end(),
                       [](const Check& check) { return check.chain && check.id.rfind("require.", 0) != 0; });
}

int list_checks(const std::vector<Check>& checks, bool json) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"id", check.id}, {"layer", word(check.layer)}, {"title", check.title}});
    if (!json) fmt::print("{:<44} {}\n", check.id, check.title);
  }
  if (json)
    fmt::print("{}\n", printed({{"schema", "assay.checks.v1"}, {"checks", list}}, 2));
  else
    fmt::print("{}\n", counted(checks.size(), "check"));
  return exit_code::pass;
}

doctor::Facts facts_of_machine(const DoctorOptions& options, const doctor::Knowledge& knowledge) {
  const doctor::Root root(options.root, environment_of(options, options.root != "/"));
  if (const Fact<std::vector<std::string>> top = root.list("/"); !top)
    throw Error(fmt::format("{} {}; --root takes a folder that stands for / of a machine", shown(options.root),
                            top.state == Known::unreadable ? "is no folder"
                            : top.state == Known::absent   ? "is not there, or is no folder"
                                                           : phrase(top.state)));
  doctor::GatherOptions gathering;
  gathering.variables = knowledge.variables();
  gathering.nvml_patience_s = static_cast<double>(whole_number("--patience", options.patience, 1, 3600));
  gathering.rules = results_folder() / "explain";
  if (options.probe_by != "none")
    gathering.probe = [&] { return try_devices(options.probe_by, gathering.nvml_patience_s); };
  gathering.probe_without_gpu = !options.probe_by.empty();
  return doctor::gather(root, gathering);
}

doctor::Bundle bundle_at(const std::string& path) {
  const doctor::Root here("/", {});  // it may lie where nobody answers
  const Fact<std::string> file = here.bytes(std::filesystem::absolute(path).string(), 0, doctor::most_bundle_bytes + 1);
  if (!file) throw Error(fmt::format("cannot read {}: it {}", shown(path), phrase(file.state)));
  if (file->size() > doctor::most_bundle_bytes)
    throw Error(fmt::format("{} is larger than any bundle of assay doctor", shown(path)));
  return doctor::read_bundle(*file, path);
}

void check_new(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, failed)))
    throw Error(fmt::format("{} is there already: remove it, or name another file", shown(path)));
}

int command_doctor(const DoctorOptions& options) {
  const doctor::Knowledge knowledge(results_folder());
  std::vector<Check> checks = choose(doctor::all_checks(knowledge), options);
  const bool json = options.format == "json";
  if (options.list) return list_checks(checks, json);
  const auto requirements =
      options.require.empty() ? std::vector<doctor::Requirement>() : doctor::parse_requirements(options.require);
  if (!options.bundle.empty()) check_new(options.bundle);
  doctor::Facts facts;
  std::string told;  // of the bundle
  if (!options.from.empty()) {
    doctor::Bundle bundle = bundle_at(options.from);
    checks = doctor::checks_for(bundle, std::move(checks));
    facts = std::move(bundle.facts);
    told = fmt::format("  from       {}, made by assay {}\n", shown(options.from), bundle.assay);
  } else {
    facts = facts_of_machine(options, knowledge);
  }
  if (!options.bundle.empty()) {
    const std::string file = doctor::packed(doctor::make_bundle({facts, knowledge}, results_folder()), knowledge);
    write_file_atomically(options.bundle, file);
    told = fmt::format("  bundle     {}, {} bytes: look at it before you pass it on\n", shown(options.bundle),
                       file.size());
  }
  if (options.versions) {
    fmt::print("{}", doctor::versions({facts, knowledge}));
    return exit_code::pass;
  }
  for (const doctor::Requirement& requirement : requirements) checks.push_back(doctor::check_of(requirement));
  doctor::Report report{facts, knowledge, doctor::judge(checks, {facts, knowledge})};
  report.verdict = doctor::verdict_of(report.answers, facts, links(checks) == links(doctor::all_checks(knowledge)));
  fmt::print("{}", json                           ? printed(doctor::to_json(report), 2) + "\n"
                   : options.format == "markdown" ? doctor::to_markdown(report)
                                                  : told + doctor::to_console(report));
  return doctor::exit_code_of(report.verdict);
}

int from_command_line(int argc, char** argv) {
  DoctorOptions options;
  Parser parser("doctor", ": checks are chosen with --check");
  parser.text("--format", options.format);
  parser.text("--root", options.root);
  parser.text("--env", options.environment_file);
  parser.text("--patience", options.patience);
  parser.lists("--check", options.check);
  parser.lists("--skip", options.skip);
  parser.text("--require", options.require);
  parser.text("--probe-by", options.probe_by);
  parser.text("--bundle", options.bundle);
  parser.text("--from", options.from);
  parser.flag("--list", options.list);
  parser.flag("--versions", options.versions);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, {"console", "json", "markdown"});
  for (const char* other : {"--root", "--env", "--patience", "--bundle", "--probe-by"})
    if (parser.given("--from") && parser.given(other))
      throw UsageError(fmt::format("--from reads a bundle, and {} is about a machine: leave one out", other));
  if (parser.given("--bundle") && parser.given("--list"))
    throw UsageError("--list looks at no machine, so there is nothing for --bundle to hold");
  return command_doctor(options);
}

}  // namespace

extern const Verb doctor_verb{"doctor", "why a GPU does not work, and what to do first", help, from_command_line};

}  // namespace assay
