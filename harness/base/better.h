// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay {

// Which way a metric is good.
enum class Better { higher, lower };
constexpr const char* word(Better better) { return better == Better::higher ? "higher" : "lower"; }

}  // namespace assay
