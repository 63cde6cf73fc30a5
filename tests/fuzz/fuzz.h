// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// For targets of libFuzzer. A target reads its input as a foreign file would be read; what it may do is succeed or
// throw an Error, which is a sentence for the user. Any other exception, a crash, a sanitizer's report or a hang is a
// find.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/error.h"

namespace assay::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Inputs that stand for several files have this between them.
constexpr char separator = '\x1e';

inline std::vector<std::string> parts_of(const std::string& input) {
  std::vector<std::string> parts(1);
  for (const char c : input) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A folder of this process. scripts/fuzz removes it (TMPDIR): a crash leaves no time to.
inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "assay-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    return std::filesystem::path(name);
  }();
  return path;
}

inline std::filesystem::path write(const std::string& name, std::string_view content) {
  const std::filesystem::path path = folder() / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return path;
}

// An Error needs words.
template <class Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
}

}  // namespace assay::fuzz

// The body of a target: `input` is a std::string.
#define ASSAY_FUZZ(input)                                                             \
  static void assay_fuzz_target(const std::string&);                                  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    const std::string text = assay::fuzz::text_of(data, size);                        \
    assay::fuzz::read_or_refuse([&] { assay_fuzz_target(text); });                    \
    return 0;                                                                         \
  }                                                                                   \
  static void assay_fuzz_target(const std::string& input)
