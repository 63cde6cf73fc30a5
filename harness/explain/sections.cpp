// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See lines.h. Excerpts are common, so a section begins the reading, not only the first line of a whole report.
#include <algorithm>
#include <array>
#include <cctype>

#include "harness/base/text.h"
#include "harness/explain/lines.h"

namespace assay::explain {
namespace {

constexpr std::size_t deepest = 16;

// "Remapped Rows" and remapped_rows are one name.
std::string name_of(std::string_view text) {
  std::string name = trim(text);
  for (char& c : name) c = c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// Of the lines of a log nearly all end here after a look at one character.
bool begins_sections(std::string_view line, std::size_t first) {
  constexpr std::array<std::string_view, 8> headers = {
      "Remapped Rows",           "Retired Pages",        "Retired pages", "ECC Errors",
      "Clocks Throttle Reasons", "Clocks Event Reasons", "Fabric",        "GPU Reset Status"};
  if (line[first] == '=') return line.find("==NVSMI LOG==") != std::string_view::npos;
  if (std::string_view("RECFG").find(line[first]) == std::string_view::npos || line.size() > first + 40) return false;
  return std::find(headers.begin(), headers.end(), trim(line)) != headers.end();
}

}  // namespace

void Sections::line(std::string_view line, std::uint64_t number) {
  if (form_ == Form::none) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    if (line[first] == '<' && line.find("<nvidia_smi_log") != std::string_view::npos)
      form_ = Form::xml, whole_report_ = true;
    else if (begins_sections(line, first))
      form_ = Form::indented;
    else
      return;
  }
  form_ == Form::xml ? tags(line, number) : indented(line, number);
}

void Sections::say(std::string_view name, std::string_view value, std::uint64_t number) {
  std::string path = "nvidia-smi: ";
  for (const auto& [depth, open] : open_)
    if (!open.empty()) path += open + "/";
  sink_(path.append(name_of(name)).append("=").append(trim(value)), number);
}

void Sections::indented(std::string_view line, std::uint64_t number) {
  const std::size_t depth = line.find_first_not_of(" \t");
  if (depth == std::string_view::npos) return;
  while (!open_.empty() && open_.back().first >= depth) open_.pop_back();
  const std::size_t colon = line.find(" : ");
  if (colon != std::string_view::npos) {
    const std::string_view name = line.substr(depth, colon - depth);
    if (starts_with(name, "Product Name")) whole_report_ = true, ended_ = false;
    if (starts_with(name, "Processes")) ended_ = true;
    say(name, line.substr(colon + 3), number);
  } else if (open_.size() < deepest && line.size() < 100) {
    if (starts_with(line.substr(depth), "Processes")) ended_ = true;
    open_.emplace_back(depth, name_of(line));
  }
}

void Sections::tags(std::string_view line, std::uint64_t number) {
  for (std::size_t at = 0; (at = line.find('<', at)) != std::string_view::npos;) {
    const std::size_t end = line.find('>', at);
    if (end == std::string_view::npos) return;
    const std::string_view tag = line.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.empty() || tag.front() == '?' || tag.front() == '!' || tag.back() == '/') continue;
    if (tag.front() == '/') {
      if (tag == "/nvidia_smi_log") ended_ = true;
      if (!open_.empty()) open_.pop_back();
      continue;
    }
    const std::size_t next = line.find('<', at);
    const std::string_view name = tag.substr(0, tag.find(' '));
    if (next != std::string_view::npos && starts_with(line.substr(next), "</") && next > at)
      say(name, line.substr(at, next - at), number);
    if (open_.size() < deepest && name != "nvidia_smi_log" && name != "gpu")
      open_.emplace_back(0, name_of(name));
    else if (open_.size() < deepest)
      open_.emplace_back(0, "");
  }
}

void Sections::finish(std::uint64_t number) {
  if (form_ != Form::none && whole_report_ && !ended_) sink_("nvidia-smi: report_cut=Yes", number);
}

}  // namespace assay::explain
