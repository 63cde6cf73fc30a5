// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The PTX on its way from the program to the interpreter, which takes shared variables inside of kernels only. nvcc
// puts one outside if it belongs to a function that several kernels call; each kernel that uses it has one of its own
// then, so it may as well stand in each of them.
//
// A fat binary as nvcc writes it: a header (magic number, 2 bytes version, 2 bytes size of the header, 8 bytes size of
// the rest), then entries, each with a header of its own (kind at 0, size of the header at 4, of what follows at 8,
// compute capability at 28).
//
// $ASSAY_PTX_CAPABILITY: 80 or 90, the newest one where it isn't set. What the interpreter gets is added to
// $ASSAY_PTX_TEXT.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "launches.h"

namespace assay::ptx {
namespace {

constexpr std::size_t image_header = 16, size_at = 8, entry_header_size_at = 4, capability_at = 28;
constexpr std::uint16_t kind_ptx = 1;

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

struct Variable {
  std::string name, declaration;
};

// The one that `statement` declares, if it is a shared one with a size.
bool declares_shared(std::string_view statement, Variable* variable) {
  if (statement.find(".shared") == std::string_view::npos || statement.find(".extern") != std::string_view::npos ||
      statement.find(".entry") != std::string_view::npos) {
    return false;
  }
  const std::size_t end = statement.find('['), space = statement.find_last_of(" \t\n", end);
  variable->name = statement.substr(space + 1, end - space - 1);
  variable->declaration = std::string(statement.substr(statement.find(".shared"))) + ";\n";
  return true;
}

}  // namespace

std::string with_shared_in_kernels(const std::string& ptx) {
  std::string result;
  std::vector<Variable> variables;
  int depth = 0;
  std::size_t start = 0;  // of a statement outside of all braces, or of a body
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    if (ptx.compare(i, 2, "//") == 0) {
      i = std::min(ptx.find('\n', i), ptx.size() - 1);
    } else if (ptx[i] == '{' && depth++ == 0) {
      result.append(ptx, start, i + 1 - start);
      start = i + 1;
    } else if (ptx[i] == '}' && --depth == 0) {
      const std::string body = ptx.substr(start, i + 1 - start);
      for (const Variable& variable : variables) {
        if (body.find(variable.name) != std::string::npos) result += "\n" + variable.declaration;
      }
      result += body;
      start = i + 1;
    } else if (ptx[i] == ';' && depth == 0) {
      Variable variable;
      const std::string_view statement = std::string_view(ptx).substr(start, i - start);
      if (declares_shared(statement, &variable)) {
        variables.push_back(variable);
        result += statement.substr(0, statement.rfind('\n', statement.find(".shared")) + 1);  // lines before it
      } else {
        result.append(ptx, start, i + 1 - start);
      }
      start = i + 1;
    }
  }
  return result.append(ptx, start);
}

namespace {

// Whether the entry is PTX for another capability than the one that was asked for. The interpreter takes the newest.
bool is_left_out(const char* entry) {
  const char* const wanted = std::getenv("ASSAY_PTX_CAPABILITY");
  return wanted != nullptr && read<std::uint32_t>(entry + capability_at) != std::strtoul(wanted, nullptr, 10);
}

void show(const std::string& ptx) {
  if (const char* path = std::getenv("ASSAY_PTX_TEXT")) std::ofstream(path, std::ios::app) << ptx << "\n";
}

}  // namespace

const char* image_for_interpreter(const char* image) {
  static std::list<std::string> kept;  // the interpreter may look at them as long as the program runs
  std::string& copy = kept.emplace_back(image, image_header);
  const char* entry = image + read<std::uint16_t>(image + 6);
  const char* const end = entry + read<std::uint64_t>(image + size_at);
  while (entry < end) {
    const auto header = read<std::uint32_t>(entry + entry_header_size_at);
    const auto size = read<std::uint64_t>(entry + size_at);
    if (read<std::uint16_t>(entry) == kind_ptx && !is_left_out(entry)) {
      const std::string text = with_shared_in_kernels(std::string(entry + header, strnlen(entry + header, size)));
      const std::uint64_t new_size = text.size() + 1;
      const std::size_t at = copy.size();
      show(text);
      copy.append(entry, header).append(text).push_back('\0');
      std::memcpy(&copy[at + size_at], &new_size, sizeof new_size);
    }
    entry += header + size;
  }
  const std::uint64_t rest = copy.size() - image_header;
  std::memcpy(&copy[size_at], &rest, sizeof rest);
  const auto header_size = static_cast<std::uint16_t>(image_header);
  std::memcpy(&copy[6], &header_size, sizeof header_size);
  return copy.data();
}

}  // namespace assay::ptx

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is CUDA's.
void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    const char* image;
    void* file;
  };
  static std::list<Wrapper> kept;
  Wrapper& copy = kept.emplace_back(*static_cast<const Wrapper*>(wrapper));
  copy.image = assay::ptx::image_for_interpreter(copy.image);
  return assay::ptx::next<void**(void*)>("__cudaRegisterFatBinary")(&copy);
}

}  // extern "C"
