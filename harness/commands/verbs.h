// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The table of verbs: their names, their help, and the way from a command line to one of them.
#pragma once

#include <string>
#include <vector>

namespace assay {

std::vector<std::string> verb_names();  // in the order of the overview
// "" for the overview. UsageError (exit 64) with the nearest name for a verb that isn't there.
std::string help_text(const std::string& verb);
// argv as main() gets it; the exit code of the verb. Wrong usage is a UsageError.
int dispatch(int argc, char** argv);

}  // namespace assay
