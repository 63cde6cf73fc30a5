// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Opening what must be a file: under its name somebody may have put something else.
#pragma once

#include <filesystem>

#include "harness/base/file.h"

namespace assay {

// For reading; none, with its errno, where that fails. Error for what is there but is no file: a FIFO or a device could
// be waited for, or read, without end.
Descriptor open_file(const std::filesystem::path& path);

}  // namespace assay
