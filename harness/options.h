// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// argv becomes plain data here and nowhere else. Every help text lives in options.cpp; `assay help VERB` shows it with
// examples. Wrong usage is a UsageError (exit 64) with the nearest names suggested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct RunOptions {
  std::vector<std::string> devices;  // empty: what is there, best first; the CPU when there is nothing else
  std::string profile = "quick";
  std::vector<std::string> filters, excludes;  // RE2, searched in the case name
  std::optional<double> budget_s;
  std::optional<int> sessions;
  std::optional<std::uint64_t> seed;
  std::uint64_t max_memory_bytes = 0;  // 0: what is available
  std::string out;                     // "": ./assay-run-<UTC>-<pid>
  std::string resume;                  // run folder to continue
  std::string worker;                  // X of assay-worker-X, overrides the choice
  bool concurrent = false;             // all devices at the same instant
  bool dry_run = false, hidden = false, quiet = false;
  std::vector<std::string> command_line;  // as typed, for run.json
};

struct ListOptions {
  std::string format = "console";  // console | json
  std::vector<std::string> devices;
  bool probe = false;  // start workers to ask them (otherwise never)
  bool hidden = false;
};

struct ReportOptions {
  std::vector<std::string> runs;
  std::string format = "console";  // console | csv | json
  std::string output;              // "": standard output
};

struct CompareOptions {
  std::vector<std::string> before, after;  // runs, or files that `assay import` reads; several are boots
  std::vector<std::string> margins;        // "1%", "bandwidth=1.5%"
  std::vector<std::string> changed;        // areas under test (verdict/comparability.h)
  std::string format = "console";          // console | json | markdown
  std::string output;                      // "": standard output
};

struct BaselineOptions {
  std::string action;              // learn | lint | show | match
  std::vector<std::string> files;  // learn: runs; lint: a file; show: a file or a class; match: a run, or none
  std::string class_id;            // learn
  std::string format;              // lint: baseline | thresholds; match: console | json
  std::string source;              // learn: what the baseline says about where it comes from; "": the runs
  std::string output;              // learn: the baseline; lint: JSON, "": none
};

struct AcceptOptions {
  std::string run;                   // "": measure one first, with the profile `acceptance`
  std::vector<std::string> devices;  // as for run, when one is measured
  std::string baseline;              // file; "": that of the class
  std::string rules;                 // file, or name of a pack; "": none
  std::string format = "console";    // console | json | markdown
  std::string output;                // "": standard output
  std::vector<std::string> command_line;
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string from;                       // format; "": recognised by content
  std::string out;                        // "": ./assay-import-<UTC>-<pid>
  std::vector<std::string> command_line;  // as typed, for run.json
};

struct HelpOptions {
  std::string verb;  // "": the overview
};

// One function per verb, in commands/<verb>.cpp; each returns the exit code.
int command_run(const RunOptions& options);
int command_list(const ListOptions& options);
int command_report(const ReportOptions& options);
int command_compare(const CompareOptions& options);
int command_accept(const AcceptOptions& options);
int command_baseline(const BaselineOptions& options);
int command_import(const ImportOptions& options);
int command_help(const HelpOptions& options);

// The verbs, and the help text of one ("" for the overview): usage, options, examples, exit codes.
std::vector<std::string> verbs();
std::string help_text(const std::string& verb);

// argv[0] is the verb. nullopt: help was asked for, and printed.
std::optional<RunOptions> parse_run(int argc, char** argv);

// Parses and dispatches; the exit code of the verb.
int dispatch(int argc, char** argv);

}  // namespace assay
