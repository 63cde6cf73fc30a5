// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay help [VERB]: the help text of a verb, or the overview of all.
#include <cstdio>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/commands/verb.h"
#include "harness/commands/verbs.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay help: what a verb does, with examples.

usage: assay help [VERB]
)";
}

int from_command_line(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '\0')) throw UsageError("help takes one verb");
  std::fputs(help_text(argc > 1 ? argv[1] : "").c_str(), stdout);
  return exit_code::pass;
}

}  // namespace

extern const Verb help_verb{"help", "what a verb does, with examples: assay help run", help, from_command_line};

}  // namespace assay
