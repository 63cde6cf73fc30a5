// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay: options become a command, the command an exit code. The only place that catches everything: whatever goes
// wrong ends as one sentence on standard error and a code of base/outcome.h.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"
#include "harness/commands/verbs.h"

namespace {

int complain(const char* what, int code) {
  const bool usage = code == assay::exit_code::usage;
  std::fflush(stdout);
  fmt::print(stderr, "assay: {}{}\n", assay::shown(what, 2000),
             usage ? "" : fmt::format(" ({}, exit code {})", word(assay::Outcome::error), code));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  assay::open_standard_descriptors();
  std::signal(SIGCHLD, SIG_DFL);  // ignored by who started us, children would end without a status
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of write(), with its sentence
  try {
    const int code = assay::dispatch(argc, argv);
    // A lost answer is no success; a worse code that is due already stays.
    const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (lost && code == assay::exit_code::pass) throw assay::Error("cannot write to standard output");
    return code;
  } catch (const assay::Error& problem) {
    return complain(problem.what(), problem.code());
  } catch (const std::exception& problem) {
    return complain(problem.what(), assay::exit_code::error);
  }
}
