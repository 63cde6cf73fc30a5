// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A tar file with gzip around it, in memory, by libarchive. That is opened when it is needed, as NVML is: this program
// starts without it. Trap: what is read may come from anybody.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace assay::doctor {

// The same bytes for the same files on every machine: no user, no group, no time. Error (exit 3) without libarchive.
std::string pack_tar_gz(const std::map<std::string, std::string>& files);

// `most`: the files that may be in it, and how many bytes each may have. Error (exit 3), in words that go on after the
// name of the file, for what is cut or no such archive, for any other name, for what is no file, is larger, or is there
// twice; no more than that is ever held in memory, and nothing is written.
std::map<std::string, std::string> unpack_tar_gz(std::string_view archive,
                                                 const std::map<std::string, std::size_t>& most);

}  // namespace assay::doctor
