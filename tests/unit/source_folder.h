// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Where the checkout is, for tests that read what it ships. One object file knows it, so that the others are the same in every
// checkout, and a compiler cache can serve them. __FILE__ may be relative to a folder that the test doesn't run in.
#pragma once

#include <filesystem>

namespace assay {

std::filesystem::path source_folder();

}  // namespace assay
