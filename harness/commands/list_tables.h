// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay list --classes, --rules: what the judges know, one by one.
#pragma once

#include <ostream>
#include <string>

namespace assay {

// Both return the exit code. Error (exit 3) for a table, a pack or a file that can't be read.
// Classes of GPUs whose name holds `pattern` (* matches anything), with what each can do at most; 3 when there is none.
int print_classes(const std::string& pattern, std::ostream& out);
// The rules of a pack or of a contract file, and the published rows that are none.
int print_rules(const std::string& name_or_file, std::ostream& out);

}  // namespace assay
