// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See tar_gz.h. Only gzip and tar are switched on: libarchive knows many more formats, and each is a reader of its own.
#include "harness/doctor/tar_gz.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/text.h"

namespace assay::doctor {
namespace {

constexpr const char* library_name = "libarchive.so.13";

template <class Function>
Function* find(const char* name) {
  static void* const library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr)
    throw Error(fmt::format(
        "bundles need {}, which is not here: install it (Debian and Ubuntu: apt install libarchive13)", library_name));
  return reinterpret_cast<Function*>(function);
}
// A function of libarchive, with the type of its header.
#define ASSAY_ARCHIVE(function) find<decltype(function)>(#function)

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

void must(int result, const Archive& archive) {
  if (result == ARCHIVE_OK) return;
  const char* why = ASSAY_ARCHIVE(archive_error_string)(archive.get());
  throw Error(fmt::format("can't be made: {}", why == nullptr ? "libarchive does not say why" : why));
}

}  // namespace

std::string pack_tar_gz(const std::map<std::string, std::string>& files) {
  const Archive out(ASSAY_ARCHIVE(archive_write_new)(), ASSAY_ARCHIVE(archive_write_free));
  std::size_t room = std::size_t{1} << 16, used = 0;
  for (const auto& [name, content] : files) room += content.size() + content.size() / 100 + 4096;
  std::string buffer(room, '\0');
  must(ASSAY_ARCHIVE(archive_write_add_filter_gzip)(out.get()), out);
  must(ASSAY_ARCHIVE(archive_write_set_filter_option)(out.get(), "gzip", "timestamp", nullptr), out);
  must(ASSAY_ARCHIVE(archive_write_set_format_ustar)(out.get()), out);
  must(ASSAY_ARCHIVE(archive_write_set_bytes_in_last_block)(out.get(), 1), out);
  must(ASSAY_ARCHIVE(archive_write_open_memory)(out.get(), buffer.data(), buffer.size(), &used), out);
  for (const auto& [name, content] : files) {
    const Entry entry(ASSAY_ARCHIVE(archive_entry_new)(), ASSAY_ARCHIVE(archive_entry_free));
    ASSAY_ARCHIVE(archive_entry_set_pathname)(entry.get(), name.c_str());
    ASSAY_ARCHIVE(archive_entry_set_size)(entry.get(), static_cast<la_int64_t>(content.size()));
    ASSAY_ARCHIVE(archive_entry_set_filetype)(entry.get(), AE_IFREG);
    ASSAY_ARCHIVE(archive_entry_set_perm)(entry.get(), 0644);
    must(ASSAY_ARCHIVE(archive_write_header)(out.get(), entry.get()), out);
    if (ASSAY_ARCHIVE(archive_write_data)(out.get(), content.data(), content.size()) !=
        static_cast<la_ssize_t>(content.size()))
      must(ARCHIVE_FATAL, out);
  }
  must(ASSAY_ARCHIVE(archive_write_close)(out.get()), out);
  buffer.resize(used);
  return buffer;
}

namespace {

[[noreturn]] void refuse(const Archive& in, const std::string& what) {
  const char* why = ASSAY_ARCHIVE(archive_error_string)(in.get());
  throw Error(why == nullptr ? what : fmt::format("{} ({})", what, shown(why)));
}

// What gzip has packed, and that its sum is right: libarchive passes over the sum.
std::string unzipped(std::string_view zipped, std::size_t most) {
  const Archive in(ASSAY_ARCHIVE(archive_read_new)(), ASSAY_ARCHIVE(archive_read_free));
  ASSAY_ARCHIVE(archive_read_support_filter_gzip)(in.get());
  ASSAY_ARCHIVE(archive_read_support_format_raw)(in.get());
  archive_entry* entry = nullptr;
  constexpr std::size_t head = 10, sums = 8;
  if (zipped.size() < head + sums || zipped.substr(0, 2) != "\x1f\x8b") throw Error("is no tar file in gzip");
  if (ASSAY_ARCHIVE(archive_read_open_memory)(in.get(), zipped.data(), zipped.size()) != ARCHIVE_OK ||
      ASSAY_ARCHIVE(archive_read_next_header)(in.get(), &entry) != ARCHIVE_OK)
    refuse(in, "is no tar file in gzip, or is damaged");
  std::string content;
  std::vector<char> block(std::size_t{1} << 16);
  for (;;) {
    const la_ssize_t count = ASSAY_ARCHIVE(archive_read_data)(in.get(), block.data(), block.size());
    if (count < 0) refuse(in, "is cut or damaged");
    if (count == 0) break;
    content.append(block.data(), static_cast<std::size_t>(count));
    if (content.size() > most) throw Error(fmt::format("holds more than the {} bytes that are read", most));
  }
  std::uint32_t told[2];  // CRC-32 and size, as this processor has them, too
  std::memcpy(told, zipped.data() + zipped.size() - sums, sums);
  boost::crc_32_type sum;
  sum.process_bytes(content.data(), content.size());
  if (sum.checksum() != told[0] || content.size() != told[1]) throw Error("is cut or damaged: its sum is wrong");
  return content;
}

}  // namespace

std::map<std::string, std::string> unpack_tar_gz(std::string_view archive_bytes,
                                                 const std::map<std::string, std::size_t>& most) {
  std::size_t most_bytes = std::size_t{1} << 16;  // of all, with the heads of tar
  for (const auto& [name, bytes] : most) most_bytes += bytes;
  const std::string tar = unzipped(archive_bytes, most_bytes);
  const Archive in(ASSAY_ARCHIVE(archive_read_new)(), ASSAY_ARCHIVE(archive_read_free));
  ASSAY_ARCHIVE(archive_read_support_format_tar)(in.get());
  if (ASSAY_ARCHIVE(archive_read_open_memory)(in.get(), tar.data(), tar.size()) != ARCHIVE_OK)
    refuse(in, "is no tar file in gzip");
  std::map<std::string, std::string> files;
  for (;;) {
    archive_entry* entry = nullptr;
    const int result = ASSAY_ARCHIVE(archive_read_next_header)(in.get(), &entry);
    if (result == ARCHIVE_EOF) return files;
    if (result != ARCHIVE_OK) refuse(in, files.empty() ? "is no tar file in gzip, or is damaged" : "is cut or damaged");
    const char* path = ASSAY_ARCHIVE(archive_entry_pathname)(entry);
    const std::string name = path == nullptr ? "" : path;
    const auto allowed = most.find(name);
    if (allowed == most.end()) throw Error(fmt::format("holds '{}', which no bundle has", shown(name)));
    if (ASSAY_ARCHIVE(archive_entry_filetype)(entry) != AE_IFREG ||
        ASSAY_ARCHIVE(archive_entry_hardlink)(entry) != nullptr)
      throw Error(fmt::format("holds '{}' as something else than a file", name));
    if (files.count(name) > 0) throw Error(fmt::format("holds '{}' twice", name));
    const la_int64_t size = ASSAY_ARCHIVE(archive_entry_size)(entry);
    if (size < 0 || static_cast<std::uint64_t>(size) > allowed->second)
      throw Error(
          fmt::format("says that '{}' has {} bytes, more than the {} that are read", name, size, allowed->second));
    std::string content(static_cast<std::size_t>(size), '\0');
    for (std::size_t read = 0; read < content.size();) {
      const la_ssize_t count = ASSAY_ARCHIVE(archive_read_data)(in.get(), content.data() + read, content.size() - read);
      if (count <= 0) refuse(in, "is cut or damaged");
      read += static_cast<std::size_t>(count);
    }
    files[name] = std::move(content);
  }
}

}  // namespace assay::doctor
