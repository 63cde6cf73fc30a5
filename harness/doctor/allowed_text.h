// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Texts that may leave a machine. Nothing is searched for secrets: each form knows what it may hold (versions, the
// words of lists, usual folders), and every piece that isn't that becomes a number, "name-3", the same wherever the
// same piece stands, so that what was equal stays equal and what differed still differs. Traps: a version may be any
// numbers with dots, so what looks like one can't be told from it; the first folder below /home and the like is always
// somebody's name.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "harness/doctor/knowledge.h"

namespace assay::doctor {

enum class Form {
  none,          // what holds no text
  address,       // of PCI
  hex,           // "10de"
  number,        // as text
  version,       // 580.95.05, 6.8.0-45-generic, 2.11.0+cu130
  long_version,  // the same, or four numbers, as an address of the network has: of libraries and packages
  word,          // one of a list
  words,         // of that list, versions and paths between them
  path,          // components of a list
  product,       // words of the products that identities.csv knows
  package,       // nvidia-fabricmanager-580
  setting,       // value of a variable: words, numbers, paths; its name must be known
  command_line,  // of the kernel: what concerns GPUs
  device_rule,   // c 195:* rw
  gres,          // File=/dev/nvidia[0-7] of gres.conf
  identifier,    // always a number
  account,       // a number of a user or group: 0, else one of ours
  nvml_name,     // name of a fact that NVML tells
  rule,          // a cell of assay explain's tables
  log_device,
  log_code,
  log_line,  // which of the words that checks look for stand in it
  presence,  // only that there is a text
  left_out,  // not even that
};

class AllowedText {
 public:
  // `results`: the folder of the tables. Error (exit 3) for a damaged one.
  AllowedText(const std::filesystem::path& results, const Knowledge& knowledge);

  std::string operator()(const std::string& text, Form form);
  // May an entry of a map with this name be told? Its name then is operator()(name, form).
  bool has_name(const std::string& name, Form form) const;
  unsigned account(unsigned id);

 private:
  std::string name_for(std::string_view hidden);
  template <class Clean>
  std::string pieces(const std::string& text, std::string_view separators, const Clean& clean);
  bool is_word(const std::string& text) const;
  bool is_component(const std::string& text);
  std::string word(const std::string& text);
  std::string version(const std::string& text, bool may_be_long = false);
  std::string piece(const std::string& text);
  std::string path(const std::string& text);
  std::string setting(const std::string& text);
  std::string command_line(const std::string& text);
  std::string gres(const std::string& text);

  std::set<std::string, std::less<>> words_, components_, parameters_, package_words_, product_words_, rules_, codes_,
      variables_;
  std::map<std::string, std::string, std::less<>> names_;
  std::map<unsigned, unsigned> accounts_;
};

}  // namespace assay::doctor
