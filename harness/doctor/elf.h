// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Three things of ELF files, each from a few small reads: for which machine, what a kernel module says of itself, and
// the loader's cache. Bounds are checked; a damaged file is unreadable, never a guess.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/doctor/root.h"

namespace assay::doctor {

// "x86_64", "aarch64", "i386", "ppc64le", "machine 40"; unreadable for what is no ELF file.
Fact<std::string> elf_machine(const Root& root, const std::string& path);

// The section .modinfo: version, vermagic, license, ...; and "signed" where a signature stands at the end of the file.
Fact<std::map<std::string, std::string>> module_info(const Root& root, const std::string& path);

struct CacheEntry {
  std::string name, path;
};
// /etc/ld.so.cache in its order, forms "glibc-ld.so.cache1.1" and the same behind "ld.so-1.7.0".
std::optional<std::vector<CacheEntry>> parse_loader_cache(const std::string& bytes);

}  // namespace assay::doctor
