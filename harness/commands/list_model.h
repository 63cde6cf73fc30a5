// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay list --model BENCHMARK --class ID: what the kernels of a benchmark could reach on a class of GPUs, by formula.
#pragma once

#include <ostream>
#include <string>

namespace assay {

// Returns the exit code. `class_text` is a class, or the part of its name that only one has. UsageError (exit 64) for a
// benchmark or class that nobody knows, with the nearest, and for a text that several classes have, with all of them.
// `format`: console or json.
int print_model_page(const std::string& benchmark, const std::string& class_text, const std::string& format,
                     std::ostream& out);

}  // namespace assay
