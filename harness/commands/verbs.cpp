// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See verbs.h.
#include "harness/commands/verbs.h"

#include <fmt/format.h>

#include <cstdio>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/commands/verb.h"

namespace assay {

// All verbs, in the order of the overview: a new one is a file and a line here.
#define ASSAY_VERBS(each) \
  each(doctor) each(run) each(list) each(report) each(compare) each(accept) each(identify) each(baseline) each(import) \
  each(explain) each(help)

#define DECLARE(name) extern const Verb name##_verb;
ASSAY_VERBS(DECLARE)

namespace {

#define ADDRESS(name) &name##_verb,
constexpr const Verb* verbs[] = {ASSAY_VERBS(ADDRESS)};

std::string overview() {
  std::string lines;
  for (const Verb* verb : verbs) lines += fmt::format("  {:<8} {}\n", verb->name, verb->summary);
  return fmt::format(R"(assay measures a machine and never passes what it has not measured.

usage: assay VERB [options]

{}
  assay --version

Exit codes, with the words of the last line:
  0    MEASURED, PASS, MATCH, NO_REGRESSION, IMPROVED, VARIANCE_CHANGED (sessions differ less)
  1    FAIL (a wrong result, or too slow), MISMATCH, REGRESSED, VARIANCE_CHANGED (they differ more)
  2    INCOMPLETE, NOT_RUN, INVALID (beyond what is possible), INCONCLUSIVE, UNKNOWN (nothing to judge
       by), PROVISIONAL, MODE_SWITCH: not measured, or it can't be told
  3    ERROR: a crash, a missing device, library or file
  64   wrong usage        130   interrupted
Of several the worst counts: 1 before 3 before 2 before 0.
)",
                     lines);
}

const Verb& find(const std::string& name) {
  for (const Verb* verb : verbs)
    if (verb->name == name) return *verb;
  throw UsageError(fmt::format("there is no verb '{}'{}", name, suggestion(name, verb_names())));
}

}  // namespace

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb* verb : verbs) names.push_back(verb->name);
  return names;
}

std::string help_text(const std::string& verb) { return verb.empty() ? overview() : find(verb).help(); }

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(overview().c_str(), stderr);
    return exit_code::usage;
  }
  const std::string word = argv[1];
  if (word == "--version") {
    const BuildInfo& build = build_info();
    fmt::print("assay {}{}\n", build.version, build.commit.empty() ? "" : " (" + build.commit + ")");
    return exit_code::pass;
  }
  if (word == "--help" || word == "-h") {
    std::fputs(overview().c_str(), stdout);
    return exit_code::pass;
  }
  if (starts_with(word, "-"))
    throw UsageError(fmt::format("name a verb before '{}'; known: {}", word, join(verb_names(), ", ")));
  return find(word).run(argc - 1, argv + 1);
}

}  // namespace assay
