// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See elf.h. Layouts: elf.h of the C library; glibc's sysdeps/generic/dl-cache.h.
#include "harness/doctor/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "harness/base/text.h"

namespace assay::doctor {
namespace {

template <class T>
bool take(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

std::string text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return "";
  return std::string(bytes.substr(offset, bytes.find('\0', offset) - offset));
}

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_PPC64:
      return "ppc64le";
    default:
      return fmt::format("machine {}", machine);
  }
}

bool is_elf(std::string_view bytes) { return starts_with(bytes, ELFMAG) && bytes.size() >= 20; }

}  // namespace

Fact<std::string> elf_machine(const Root& root, const std::string& path) {
  return root.bytes(path, 0, 20).as([](const std::string& bytes) -> std::optional<std::string> {
    Elf64_Half machine = 0;
    if (!is_elf(bytes) || bytes[EI_DATA] != ELFDATA2LSB || !take(bytes, 18, machine)) return std::nullopt;
    return machine_name(machine);
  });
}

Fact<std::map<std::string, std::string>> module_info(const Root& root, const std::string& path) {
  using Info = std::map<std::string, std::string>;
  const Fact<std::string> head = root.bytes(path, 0, sizeof(Elf64_Ehdr));
  const Fact<Info> unreadable = Fact<Info>::not_known(head ? Known::unreadable : head.state, path);
  Elf64_Ehdr header;
  if (!head || !is_elf(*head) || (*head)[EI_CLASS] != ELFCLASS64 || !take(*head, 0, header)) return unreadable;
  const std::uint64_t size = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  const Fact<std::string> table = root.bytes(path, header.e_shoff, size);
  Elf64_Shdr names_header;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || !take(*table, header.e_shstrndx * sizeof(Elf64_Shdr), names_header))
    return unreadable;
  const Fact<std::string> names =
      root.bytes(path, names_header.sh_offset, std::min<std::uint64_t>(names_header.sh_size, 1 << 20));
  Elf64_Shdr section;
  for (std::uint64_t at = 0; take(*table, at, section); at += sizeof section) {
    if (text_at(*names, section.sh_name) != ".modinfo") continue;
    Info info;
    const Fact<std::string> text =
        root.bytes(path, section.sh_offset, std::min<std::uint64_t>(section.sh_size, 1 << 20));
    if (!text || text->size() != section.sh_size) return text ? unreadable : Fact<Info>::not_known(text.state, path);
    for (const std::string& pair : split(*text, '\0'))
      if (const std::size_t equals = pair.find('='); equals != std::string::npos)
        info.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    constexpr std::string_view signature = "~Module signature appended~\n";
    const Fact<Status> status = root.status(path);
    if (status && status->size > signature.size() &&
        *root.bytes(path, status->size - signature.size(), signature.size()) == signature)
      info["signed"] = "yes";
    return Fact<Info>::of(info, path);
  }
  return unreadable;
}

std::optional<std::vector<CacheEntry>> parse_loader_cache(const std::string& bytes) {
  constexpr std::string_view old_magic = "ld.so-1.7.0", new_magic = "glibc-ld.so.cache1.1";
  std::string_view rest = bytes;
  if (starts_with(rest, old_magic)) {  // 12 bytes of magic, a count, entries of 12 bytes; then the new form, aligned
    std::uint32_t count = 0;
    if (!take(rest, 12, count)) return std::nullopt;
    const std::uint64_t end = (16 + std::uint64_t{count} * 12 + 7) / 8 * 8;
    if (end > rest.size()) return std::nullopt;
    rest.remove_prefix(end);
  }
  std::uint32_t count = 0;
  if (!starts_with(rest, new_magic) || !take(rest, 20, count)) return std::nullopt;
  std::vector<CacheEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint32_t key = 0, value = 0;
    if (!take(rest, 48 + i * 24 + 4, key) || !take(rest, 48 + i * 24 + 8, value)) return std::nullopt;
    // A text that doesn't end is a file that was cut.
    if (rest.find('\0', key) == rest.npos || rest.find('\0', value) == rest.npos) return std::nullopt;
    entries.push_back({text_at(rest, key), text_at(rest, value)});
  }
  return entries;
}

}  // namespace assay::doctor
