// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The environment of worker processes: ours, without what would silently change what is measured. How many threads
// there are and where they run is a parameter of a case, not a setting of the shell that assay was started from.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace assay {

// "NAME=value" of each variable that a worker gets.
std::vector<std::string> worker_environment();
// Names of those that are set and that it doesn't get: OMP_NUM_THREADS and the like.
std::vector<std::string> ignored_variables();
// Settings of OpenMP, OpenBLAS, oneDNN, of the dynamic loader (LD_PRELOAD puts other code in place of what is measured)
// and of the memory allocator that it gets: they can change a result, so run.json has them.
std::map<std::string, std::string> library_variables();

}  // namespace assay
