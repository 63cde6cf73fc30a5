// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Bytes become the lines that patterns are tried on, in constant memory. Line numbers count line feeds as `grep -n`
// does. Some inputs say things across lines, and get further lines made of them, with the number of the line they come
// from:
//   nvidia-smi -q and -x   "nvidia-smi: remapped_rows/pending=Yes": the sections a value stands in, as a path
//   tables of dcgmi diag   a cell that was wrapped is put together: "dcgm: Warning: GPU 0 Thermal violations totaling
//   ..." JSON without lines     cut at commas and braces outside of strings
// Traps: a line longer than 64 KiB is split, the pieces overlap; NUL bytes (a log after a power cut) stay in their
// line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::explain {

using LineSink = std::function<void(std::string_view line, std::uint64_t number)>;

// Sections of nvidia-smi -q (by indentation) and -x (by tags).
class Sections {
 public:
  explicit Sections(const LineSink& sink) : sink_(sink) {}
  void line(std::string_view line, std::uint64_t number);
  void finish(std::uint64_t number);  // says "nvidia-smi: report_cut=Yes" where the end is missing

 private:
  void indented(std::string_view line, std::uint64_t number);
  void tags(std::string_view line, std::uint64_t number);
  void say(std::string_view name, std::string_view value, std::uint64_t number);

  const LineSink& sink_;
  enum class Form { none, indented, xml } form_ = Form::none;
  std::vector<std::pair<std::size_t, std::string>> open_;  // indentation, name
  bool whole_report_ = false, ended_ = false;
};

class Lines {
 public:
  static constexpr std::size_t longest = 64 * 1024;
  static constexpr std::size_t overlap = 512;

  explicit Lines(LineSink sink) : sink_(std::move(sink)) {}
  void feed(std::string_view bytes);
  void finish();  // the end of the input: the last line, if no line feed ends it, and what lines were gathered for
  std::uint64_t number() const { return number_; }  // lines so far
  std::uint64_t split() const { return split_; }    // lines that were too long

 private:
  void line(std::string_view line);
  void end_line();
  void piece(std::string_view line);
  void json(std::string_view line);
  bool table_row(std::string_view line);
  void end_cell();

  LineSink sink_;
  Sections sections_{sink_};
  std::string rest_;  // the beginning of a line whose end wasn't fed yet
  std::uint64_t number_ = 0, split_ = 0;
  std::string cell_, cell_name_;  // of a table, put together so far
  std::uint64_t cell_number_ = 0;
  bool in_long_line_ = false;
};

}  // namespace assay::explain
