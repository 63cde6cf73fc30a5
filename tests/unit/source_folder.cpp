// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/source_folder.h"

namespace assay {

std::filesystem::path source_folder() { return ASSAY_SOURCE_DIR; }

}  // namespace assay
