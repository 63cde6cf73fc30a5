// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay report RUN...: the records of runs in another form. The exit code is that of the worst run, so that a script
// that only looks at the report can't take a failed run for a good one. A file that exists is never overwritten.
#include "harness/report/report.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/options.h"

namespace assay {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(fmt::format("cannot write {}: {}; name another file with -o", path, std::strerror(errno)));
}

// Writes to a new file; what was written before a failure is removed. A pipe or a terminal that is there will do.
Outcome write_to_file(const std::vector<RunData>& runs, const std::string& format, const std::string& path) {
  std::error_code unreadable;
  const bool special = std::filesystem::exists(path, unreadable) &&
                       !std::filesystem::is_regular_file(path, unreadable) &&
                       !std::filesystem::is_directory(path, unreadable);
  if (!special && !Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644))) {
    if (errno == EEXIST) throw Error(fmt::format("{} exists and is not overwritten; name another file with -o", path));
    cannot_write(path);
  }
  try {
    std::ofstream file(path);
    const Outcome outcome = write_report(runs, format, file);
    file.flush();
    if (!file) cannot_write(path);
    return outcome;
  } catch (...) {
    if (!special) std::filesystem::remove(path, unreadable);
    throw;
  }
}

}  // namespace

int command_report(const ReportOptions& options) {
  check_report_format(options.format);
  std::vector<RunData> runs;
  for (const std::string& folder : options.runs) runs.push_back(read_run(folder));
  if (!options.output.empty()) return code(write_to_file(runs, options.format, options.output));
  const Outcome outcome = write_report(runs, options.format, std::cout);
  std::cout.flush();
  if (!std::cout) throw Error("cannot write to standard output");
  return code(outcome);
}

}  // namespace assay
