// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The two things that are read of a device's configuration space. All else in it stays here: it may hold serial
// numbers.
#pragma once

#include <optional>
#include <string>

namespace assay::doctor {

// A device that is gone answers every read with ones.
bool all_ones(const std::string& config);
// ACS sends requests between devices up to the root; nullopt where the extended capabilities weren't read.
std::optional<bool> redirects(const std::string& config);
// A space of so many bytes of which the two above say this; of less than 4096 bytes it is never known what ACS does.
std::string config_that_says(std::size_t bytes, bool ones, bool acs_redirects);

}  // namespace assay::doctor
