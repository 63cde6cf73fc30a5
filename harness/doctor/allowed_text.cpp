// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See allowed_text.h. Every way through ends in a list, in a pattern that is short and closed, or in name_for().
#include "harness/doctor/allowed_text.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/allowed_words.h"
#include "harness/explain/tables.h"
#include "harness/verdict/classes.h"

namespace assay::doctor {
namespace {

bool matches(std::string_view text, const RE2& pattern) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

std::set<std::string, std::less<>> set_of(const std::string& words) {
  std::set<std::string, std::less<>> set;
  for (std::string& word : split(words, ' '))
    if (!word.empty()) set.insert(std::move(word));
  return set;
}

// Compiled when they are first asked for: most runs make no bundle.
struct Patterns {
  RE2 address{"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]"};
  RE2 hex{"[0-9a-f]{2,6}"};
  RE2 pci_id{"[0-9a-f]{4}:[0-9a-f]{4}"};
  RE2 number{"-?[0-9]{1,5}"};
  // Chips, nodes, device ids, power states, types of cloud instances.
  RE2 shape{
      "(gm|gp|gv|tu|ga|ad|gh|gb)[0-9][0-9a-fx]{2}|nvidia-cap[0-9]{1,4}|channel[0-9]{1,4}|(cuda|simt):[0-9]{1,3}|"
      "D[0-3](hot|cold)?|[a-z][0-9]{1,2}[a-z]{0,2}\\.([0-9]{0,2}x?large|metal)"};
  RE2 version_head{"((?:[0-9]:)?[0-9]{1,4}(?:\\.[0-9]{1,6}){1,4}(?:(?:rc|a|b)[0-9]{1,3})?)"};
  RE2 four_numbers{"[0-9]{1,3}(\\.[0-9]{1,3}){3}"};
  RE2 tail_number{"0[0-9]?|[1-9][0-9]{0,4}"};
  RE2 version_tail{
      "(el|fc|deb|ubuntu|cu|rc|u|amzn|bpo|cm|azl|dev|post|rocm|oe|WSL)[0-9]{1,8}(u[0-9]{1,3}|_[0-9]{1,3})?|0ubuntu[0-9]"
      "{"
      "1,3}"};
  RE2 component{
      "pci[0-9a-f]{4}:[0-9a-f]{2}|[0-9]{1,4}|cuda-[0-9]{1,2}(\\.[0-9]{1,2}){0,2}|python[23](\\.[0-9]{1,2})?|"
      "(x86_64|aarch64)-linux(-gnu)?|nvidia[0-9]{1,3}|nvidia-nvswitch[0-9]{1,3}|nvidia-cap[0-9]{1,4}|node[0-9]{1,3}|"
      "nvidia(-uvm|-drm|-modeset|-peermem|-fs)?\\.ko(\\.(zst|xz|gz))?"};
  RE2 library{
      "lib(cuda|cudart|cublas|cublasLt|cudnn|cudnn_(ops|cnn|graph|adv)|nccl|nccl-net|nvrtc|cufft|cusparse|cusparseLt|"
      "cusolver|curand|cupti|nvidia-ml|nvidia-ptxjitcompiler|nvidia-nvvm|cudadebugger|nvshmem_host|cufile|nvJitLink|"
      "dxcore|torch_cuda)(\\.so(\\.[0-9]{1,5}){0,5})?"};
  RE2 profile{"[0-9]{1,3}(GB|[ABCQ])|[1-7]g\\.[0-9]{1,3}gb"};
  RE2 package_number{"[0-9]{1,3}|[0-9]{1,2}\\.[0-9]"};
  RE2 rule{"[abc]|([0-9]{1,5}|\\*):([0-9]{1,5}|\\*)|[rwm]{1,3}"};
  RE2 gres{"/dev/nvidia([0-9]{1,3})?(\\[[0-9]{1,3}(-[0-9]{1,3})?(,[0-9]{1,3}(-[0-9]{1,3})?){0,15}\\])?"};
  RE2 log_device{"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(\\.[0-9a-f])?|gpu [0-9]{1,4}|rank [0-9]{1,6}|host|-"};
  RE2 log_code{"-?[0-9]{1,4}|0x[0-9a-f]{1,8}(:0x[0-9a-f]{1,8}){0,3}|-"};
};

const Patterns& patterns() {
  static const Patterns all;
  return all;
}

}  // namespace

AllowedText::AllowedText(const std::filesystem::path& results, const Knowledge& knowledge)
    : words_(set_of(allowed_words)),
      components_(set_of(allowed_components)),
      parameters_(set_of(allowed_parameters)),
      package_words_(set_of(allowed_package_words)) {
  for (const Trap& trap : knowledge.traps)
    for (const std::string& part : split(trap.value, ':')) words_.insert(part);
  for (const std::string& name : knowledge.variables()) variables_.insert(name);
  const ClassTable classes = read_class_table(results);
  for (const Identity& identity : classes.identities())
    pieces(identity.product, " -/()", [&](const std::string& word) {
      product_words_.insert(word);
      return word;
    });
  const explain::Tables tables = explain::Tables::read(results / "explain");
  for (const std::vector<explain::Row>* rows : {&tables.codes, &tables.texts})
    for (const explain::Row& row : *rows) {
      codes_.insert(row.code.substr(0, row.code.find('/')));
      for (const std::string* cell : {&row.kind, &row.layer, &row.severity, &row.action, &row.meaning})
        rules_.insert(*cell);
    }
}

std::string AllowedText::name_for(std::string_view hidden) {
  const auto known = names_.find(hidden);
  if (known != names_.end()) return known->second;
  return names_[std::string(hidden)] = fmt::format("name-{}", names_.size() + 1);
}

// What stands between separators, cleaned; the separators stay.
template <class Clean>
std::string AllowedText::pieces(const std::string& text, std::string_view separators, const Clean& clean) {
  std::string all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) all += clean(text.substr(begin, end - begin));
    if (end < text.size()) all += text[end];
    begin = end + 1;
  }
  return all;
}

bool AllowedText::is_word(const std::string& text) const {
  return words_.count(text) > 0 || matches(text, patterns().shape) || matches(text, patterns().library);
}

std::string AllowedText::word(const std::string& text) { return text.empty() || is_word(text) ? text : name_for(text); }

std::string AllowedText::version(const std::string& text, bool may_be_long) {
  if (matches(text, patterns().number) || is_word(text)) return text;
  if (!may_be_long && matches(text, patterns().four_numbers)) return name_for(text);
  re2::StringPiece rest(text);
  std::string clean;
  if (!RE2::Consume(&rest, patterns().version_head, &clean)) return name_for(text);
  std::string tail(rest.data(), rest.size());
  if (!tail.empty() && std::string_view("-+~.").find(tail[0]) == std::string_view::npos) return name_for(text);
  int numbers = 0;  // 6.8.0-45-generic, 1:535.183.01-0ubuntu0.22.04.1: few more, or it is something else
  return clean + pieces(tail, "-+~.", [&](const std::string& token) {
           const bool is_number = matches(token, patterns().tail_number) && ++numbers <= 3;
           return is_number || is_word(token) || matches(token, patterns().version_tail) ? token : name_for(token);
         });
}

// Of a sentence.
std::string AllowedText::piece(const std::string& text) {
  if (text[0] == '/') return path(text);
  const std::size_t end = text.find_last_not_of(":;,") + 1;
  const std::string bare = text.substr(0, end), behind = text.substr(end);
  if (is_word(bare)) return text;
  return pieces(bare, "/", [&](const std::string& part) { return version(part); }) + behind;
}

bool AllowedText::is_component(const std::string& text) {
  if (components_.count(text) > 0 || matches(text, patterns().component) || matches(text, patterns().library) ||
      matches(text, patterns().address))
    return true;
  return text.find('.') != std::string::npos && version(text) == text;
}

std::string AllowedText::path(const std::string& text) {
  if (text.empty() || text[0] != '/') return word(text);
  // Below these everything is the system's; elsewhere the second name is a user, a project or a volume.
  static const std::set<std::string, std::less<>> system_folders =
      set_of("usr lib lib32 lib64 opt etc dev proc sys var run bin sbin boot root tmp .dockerenv .singularity.d");
  std::size_t depth = 0;
  bool own = false;
  return pieces(text, "/", [&](const std::string& component) {
    own = own || (depth == 0 && system_folders.count(component) == 0);
    const bool somebodys = own && depth == 1;
    ++depth;
    return !somebodys && is_component(component) ? component : name_for(component);
  });
}

std::string AllowedText::setting(const std::string& text) {
  if (text.find('/') != std::string::npos)
    return pieces(text, ": ", [&](const std::string& part) { return part[0] == '/' ? path(part) : name_for(part); });
  const auto plain_value = [&](const std::string& part) { return is_word(part) || matches(part, patterns().number); };
  return pieces(text, ",", [&](const std::string& part) {  // "expandable_segments:True,max_split_size_mb:512"
    const std::size_t colon = part.find(':');
    const bool pair =
        colon != std::string::npos && is_word(part.substr(0, colon)) && plain_value(part.substr(colon + 1));
    return pair || plain_value(part) ? part : name_for(part);
  });
}

std::string AllowedText::command_line(const std::string& text) {
  static const std::set<std::string, std::less<>> values = set_of(allowed_parameter_values);
  std::vector<std::string> kept;
  for (const std::string& parameter : split(text, ' ')) {
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (parameters_.count(parameter.substr(0, equals)) == 0) continue;
    kept.push_back(parameter.substr(0, equals) + pieces(parameter.substr(equals), "=,", [&](const std::string& value) {
                     return values.count(value) > 0 || matches(value, patterns().pci_id) ? value : name_for(value);
                   }));
  }
  return join(kept, " ");
}

std::string AllowedText::gres(const std::string& text) {
  static const std::string file = "File=/dev/nvidia";
  std::string rows;
  for (const std::string& row : split(text, '\n')) {
    const std::size_t at = row.find(file);
    if (at == std::string::npos || starts_with(trim(row), "#")) continue;
    const std::size_t begin = at + 5, end = row.find_first_of(" \t\r", begin);
    const std::string device = row.substr(begin, end == std::string::npos ? end : end - begin);
    rows += "Name=gpu File=" + (matches(device, patterns().gres) ? device : "/dev/nvidia-" + name_for(device)) + "\n";
  }
  return rows;
}

bool AllowedText::has_name(const std::string& name, Form form) const {
  static const std::set<std::string, std::less<>> facts = set_of(nvml_names);
  if (form == Form::setting) return variables_.count(name) > 0;
  if (form == Form::nvml_name) return facts.count(name) > 0;
  // Labels of a device that are asked for: "nvml", and why a fact of that name isn't there.
  if (form == Form::words) return name == "nvml" || facts.count(name) > 0;
  return true;
}

unsigned AllowedText::account(unsigned id) {
  if (id == 0) return 0;
  return accounts_.emplace(id, static_cast<unsigned>(accounts_.size()) + 1).first->second;
}

std::string AllowedText::operator()(const std::string& text, Form form) {
  if (text.empty()) return text;
  const auto if_matches = [&](const RE2& pattern) { return matches(text, pattern) ? text : name_for(text); };
  const auto if_in = [&](const auto& set) { return set.count(text) > 0 ? text : name_for(text); };
  switch (form) {
    case Form::address:
      return if_matches(patterns().address);
    case Form::hex:
      return if_matches(patterns().hex);
    case Form::number:
      return if_matches(patterns().number);
    case Form::version:
    case Form::long_version:
      return version(text, form == Form::long_version);
    case Form::word:
      return word(text);
    case Form::words:
      return pieces(text, " ()", [&](const std::string& part) { return piece(part); });
    case Form::path:
      return path(text);
    case Form::product:
      return pieces(text, " -/()", [&](const std::string& part) {
        return product_words_.count(part) > 0 || matches(part, patterns().profile) ? part : name_for(part);
      });
    case Form::package:
      return pieces(text, "-_", [&](const std::string& part) {
        return package_words_.count(part) > 0 || matches(part, patterns().package_number) ? part : name_for(part);
      });
    case Form::setting:
      return setting(text);
    case Form::command_line:
      return command_line(text);
    case Form::device_rule:
      return pieces(text, " ",
                    [&](const std::string& part) { return matches(part, patterns().rule) ? part : name_for(part); });
    case Form::gres:
      return gres(text);
    case Form::rule:
      return if_in(rules_);
    case Form::log_device:
      return if_matches(patterns().log_device);
    case Form::log_code:
      return codes_.count(text) > 0 ? text : if_matches(patterns().log_code);
    case Form::log_line: {
      std::string line = "...";
      for (const char* marker : log_markers)
        if (text.find(marker) != std::string::npos) line += std::string(" ") + marker + " ...";
      return line;
    }
    case Form::presence:
      return "...";
    case Form::none:
    case Form::identifier:
    case Form::account:
    case Form::nvml_name:
    case Form::left_out:
      break;
  }
  return name_for(text);
}

}  // namespace assay::doctor
