// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay help [VERB]: the texts of options.cpp.
#include <cstdio>

#include "harness/base/outcome.h"
#include "harness/options.h"

namespace assay {

int command_help(const HelpOptions& options) {
  std::fputs(help_text(options.verb).c_str(), stdout);
  return exit_code::pass;
}

}  // namespace assay
