// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a verb is. Each has one file, commands/<verb>.cpp, with its help text, its options, their parsing and its
// command, and ends with its Verb; verbs.cpp has the table of them.
#pragma once

#include <string>

namespace assay {

struct Verb {
  const char* name;
  const char* summary;    // one line of the overview
  std::string (*help)();  // usage, options, examples, exit codes
  // From the words of the command line to the exit code. argv[0] is the verb, argv[-1] the program.
  int (*run)(int argc, char** argv);
};

}  // namespace assay
