// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See report.h.
#include "harness/doctor/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/build_info.h"

namespace assay::doctor {
namespace {

constexpr std::size_t width = 100, most_evidence = 4;

// "  label      text", its further lines below the text.
std::string row(const std::string& label, const std::string& text) {
  constexpr std::size_t indent = 13;
  std::string lines = fmt::format("  {:<11}", label);
  std::size_t column = indent;
  bool first = true;
  for (const std::string& word : split(text, ' ')) {
    if (!first && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    first = false;
  }
  return lines + "\n";
}

// Fixes for where we are come first, those for elsewhere are left out.
bool fits(const std::string& where, const Facts& facts) {
  const std::string& id = *facts.system.distribution;
  const std::string like = id + " " + *facts.system.distribution_like;
  if (where == "any") return true;
  if (where == "container") return static_cast<bool>(facts.container.kind);
  if (where == "kubernetes") return *facts.container.kind == "kubernetes";
  if (where == "cloud") return facts.system.virtual_machine;
  if (facts.container.kind) return false;  // the host's packages
  const bool debian = like.find("debian") != std::string::npos || like.find("ubuntu") != std::string::npos;
  const bool rhel = like.find("rhel") != std::string::npos || like.find("fedora") != std::string::npos ||
                    like.find("centos") != std::string::npos;
  return where == "debian" ? debian : where == "rhel" ? rhel : true;
}

std::string finding_text(const Answer& answer, const Facts& facts) {
  std::string text = fmt::format("\n{}  {} [{}]\n", word(answer.severity), answer.what.front(), answer.check.id);
  for (std::size_t i = 1; i < answer.what.size(); ++i) {
    if (i == 3 && answer.what.size() > 4) {
      text += row("", fmt::format("and {} more", answer.what.size() - i));
      break;
    }
    text += row("", answer.what[i]);
  }
  std::vector<std::string> evidence = answer.evidence;
  std::sort(evidence.begin(), evidence.end());
  evidence.erase(std::unique(evidence.begin(), evidence.end()), evidence.end());
  if (evidence.size() > most_evidence) evidence.resize(most_evidence);
  for (std::size_t i = 0; i < evidence.size(); ++i) text += row(i == 0 ? "known by" : "", shown(evidence[i], 180));
  text += row("matters", answer.check.why);
  bool first = true;
  for (const Fix& fix : answer.fixes) {
    if (!fits(fix.where, facts)) continue;
    text += row(first ? "do" : "", fix.what);
    first = false;
  }
  return text;
}

std::string short_text(const Answer& answer) {
  return fmt::format("  {:<9}{}{} [{}]\n", word(answer.severity), answer.what.front(),
                     answer.follows_from.empty() ? "" : ", follows from " + answer.follows_from, answer.check.id);
}

// Grouped by what was not known: one silent source leaves many checks without an answer.
std::string unknown_text(const Report& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Answer& answer : report.answers) {
    if (answer.state != State::unknown) continue;
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == answer.unknown.front(); });
    if (same != groups.end())
      same->second.push_back(answer.check.id);
    else
      groups.push_back({answer.unknown.front(), {answer.check.id}});
  }
  std::string text = groups.empty() ? "" : "\nnot known\n";
  for (std::size_t i = 0; i < groups.size() && i < 6; ++i) {
    const auto& [reason, ids] = groups[i];
    text += "  " + plain(reason) + ": " + ids.front() +
            (ids.size() > 1 ? fmt::format(" and {}", counted(ids.size() - 1, "other check")) : "") + "\n";
  }
  if (groups.size() > 6) text += fmt::format("  and {}\n", counted(groups.size() - 6, "other reason"));
  return text;
}

std::string gpu_lines(const Case& one) {
  std::string text;
  std::vector<Advice> all = advice_of(one);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t same = 1;
    while (i + same < all.size() && all[i + same].pci_id == all[i].pci_id) ++same;
    const Advice& advice = all[i];
    std::string name = advice.product.empty() ? "NVIDIA device " + advice.pci_id : advice.product;
    if (!advice.exact && !advice.family.empty()) name += ", by its id of the family " + advice.family;
    text += row(same == 1 ? "GPU" : fmt::format("{} GPUs", same),
                fmt::format("{}: {}{}", advice.address + (same == 1 ? "" : ", ..."), name,
                            advice.capability.empty() ? "" : ", capability " + advice.capability));
    if (!advice.oldest_driver.empty()) {
      std::string needs = fmt::format("driver {} or newer", advice.oldest_driver);
      if (!advice.last_branch.empty()) needs += ", up to branch " + advice.last_branch;
      if (advice.module != "both") needs += fmt::format(", the {} module", advice.module);
      needs += fmt::format("; CUDA {}{}", advice.oldest_cuda,
                           advice.last_cuda.empty() ? " or newer" : " to " + advice.last_cuda);
      if (!advice.wheels.empty()) needs += "; torch builds " + join(advice.wheels, " ");
      text += row("  needs", needs);
    }
    i += same;
  }
  return text;
}

std::string driver_line(const Facts& facts) {
  std::string text =
      facts.modules.version ? fmt::format("{} ({})", *facts.modules.version, *facts.modules.flavour) : "none loaded";
  if (facts.nvml) text += facts.nvml->loaded ? "; NVML: " + facts.nvml->detail : "; " + facts.nvml->detail;
  return plain(text);
}

}  // namespace

std::vector<Advice> advice_of(const Case& one) {
  std::vector<Advice> all;
  for (const PciDevice& gpu : one.facts.gpus) {
    const Card card = one.knowledge.card(gpu);
    Advice advice{gpu.address, gpu.id(), card.product, card.family, card.capability};
    advice.exact = card.exact;
    if (card.row != nullptr) {
      advice.module = card.row->module;
      advice.oldest_driver = card.row->oldest_driver;
      advice.last_branch = card.row->last_branch;
      advice.oldest_cuda = card.row->oldest_cuda;
      advice.last_cuda = card.row->last_cuda;
      advice.wheels = one.knowledge.wheels_for(card.capability);
    }
    all.push_back(advice);
  }
  return all;
}

std::string to_console(const Report& report) {
  const Facts& facts = report.facts;
  std::string text = "assay doctor\n";
  const System& system = facts.system;
  text +=
      row("machine", plain(fmt::format("{} {}, kernel {}{}{}", *system.distribution, *system.distribution_version,
                                       system.kernel ? *system.kernel : "unknown",
                                       facts.container.kind ? ", in a container (" + *facts.container.kind + ")" : "",
                                       system.cloud.empty() ? "" : ", " + system.cloud + " " + *system.product)));
  text += gpu_lines({facts, report.knowledge});
  text += row("driver", driver_line(facts));
  std::size_t sound = 0, applicable = 0;
  std::string followers, notes;
  for (const Answer& answer : report.answers) {
    sound += answer.state == State::sound;
    applicable += answer.state != State::not_applicable;
    if (answer.state != State::finding) continue;
    if (answer.follows_from.empty() && answer.severity != Severity::note)
      text += finding_text(answer, facts);
    else
      (answer.follows_from.empty() ? notes : followers) += short_text(answer);
  }
  if (!followers.empty()) text += "\nand so\n" + followers;
  if (!notes.empty()) text += "\nto know\n" + notes;
  text += unknown_text(report);
  if (!facts.silent_mounts.empty())
    text += "\n" + row("silent", "did not answer: " + plain(join(facts.silent_mounts, ", ")));
  text += fmt::format("\n{} of {} checks that apply here found nothing wrong\n", sound, applicable);
  constexpr const char* words[] = {"sound", "BROKEN: begin with the first finding",
                                   "UNKNOWN: links of the chain could not be looked at", "NO GPU",
                                   "nothing wrong in what was looked at; links of the chain were left out"};
  return text +
         fmt::format("{} (exit code {})\n", words[static_cast<int>(report.verdict)], exit_code_of(report.verdict));
}

std::string to_markdown(const Report& report) {
  // What the machine says goes where Markdown has no meaning.
  const auto quoted = [](const std::string& text) {
    std::string safe = plain(text);
    for (const auto& [sign, entity] : {std::pair{'&', "&amp;"},
                                       {'<', "&lt;"},
                                       {'>', "&gt;"},
                                       {'|', "&#124;"},
                                       {'`', "&#96;"},
                                       {'*', "&#42;"},
                                       {'_', "&#95;"},
                                       {'[', "&#91;"},
                                       {']', "&#93;"}})
      for (std::size_t at = 0; (at = safe.find(sign, at)) != std::string::npos; at += std::string(entity).size())
        safe.replace(at, 1, entity);
    return safe;
  };
  std::string text = fmt::format("# assay doctor: {}\n", word(report.verdict));
  for (const Advice& advice : advice_of({report.facts, report.knowledge}))
    text += fmt::format("\n- GPU {}: {}, capability {}", advice.address,
                        quoted(advice.product.empty() ? advice.pci_id : advice.product),
                        advice.capability.empty() ? "unknown" : advice.capability);
  text += fmt::format("\n- driver: {}\n", quoted(driver_line(report.facts)));
  for (const Answer& answer : report.answers) {
    if (answer.state != State::finding) continue;
    text += fmt::format("\n## {}: {}\n\n", word(answer.severity), quoted(answer.what.front()));
    text += fmt::format("`{}`{}\n\n", answer.check.id,
                        answer.follows_from.empty() ? "" : fmt::format(", follows from `{}`", answer.follows_from));
    for (std::size_t i = 1; i < answer.what.size(); ++i) text += "- also: " + quoted(answer.what[i]) + "\n";
    for (const std::string& evidence : answer.evidence) text += "- known by: " + quoted(evidence) + "\n";
    text += "- matters: " + quoted(answer.check.why) + "\n";
    for (const Fix& fix : answer.fixes)
      if (fits(fix.where, report.facts)) text += "- do: " + quoted(fix.what) + "\n";
  }
  std::string unknown;
  for (const Answer& answer : report.answers)
    if (answer.state == State::unknown)
      unknown += fmt::format("- `{}`: {}\n", answer.check.id, quoted(answer.unknown.front()));
  if (!unknown.empty()) text += "\n## not known\n\n" + unknown;
  return text + fmt::format("\nExit code {}.\n", exit_code_of(report.verdict));
}

Json to_json(const Report& report) {
  Json checks = Json::array(), gpus = Json::array();
  for (const Answer& answer : report.answers) {
    Json fixes = Json::array();
    for (const Fix& fix : answer.fixes) fixes.push_back({{"where", fix.where}, {"what", plain(fix.what)}});
    const auto texts = [](const std::vector<std::string>& list) {
      Json json = Json::array();
      for (const std::string& text : list) json.push_back(plain(text));
      return json;
    };
    const bool finding = answer.state == State::finding;
    checks.push_back({{"id", answer.check.id},
                      {"layer", word(answer.check.layer)},
                      {"title", answer.check.title},
                      {"state", word(answer.state)},
                      {"chain", answer.check.chain},
                      {"severity", finding ? Json(word(answer.severity)) : Json(nullptr)},
                      {"what", texts(answer.what)},
                      {"evidence", finding ? texts(answer.evidence) : Json::array()},
                      {"why", finding ? Json(answer.check.why) : Json(nullptr)},
                      {"do", finding ? fixes : Json::array()},
                      {"follows_from", text_or_null(answer.follows_from)},
                      {"not_known", texts(answer.unknown)},
                      {"not_applicable", text_or_null(answer.reason)}});
  }
  for (const Advice& advice : advice_of({report.facts, report.knowledge}))
    gpus.push_back({{"address", advice.address},
                    {"pci_id", advice.pci_id},
                    {"product", text_or_null(advice.product)},
                    {"family", text_or_null(advice.family)},
                    {"capability", text_or_null(advice.capability)},
                    {"exact", advice.exact},
                    {"module", text_or_null(advice.module)},
                    {"oldest_driver", text_or_null(advice.oldest_driver)},
                    {"last_branch", text_or_null(advice.last_branch)},
                    {"oldest_cuda", text_or_null(advice.oldest_cuda)},
                    {"last_cuda", text_or_null(advice.last_cuda)},
                    {"torch_builds", advice.wheels}});
  return {{"schema", "assay.doctor.v1"},
          {"verdict", word(report.verdict)},
          {"exit_code", exit_code_of(report.verdict)},
          {"gpus", gpus},
          {"checks", checks},
          {"facts", to_json(report.facts)}};
}

std::string versions(const Case& one) {
  const Facts& facts = one.facts;
  std::string text = fmt::format("assay {}{}\n", build_info().version,
                                 build_info().commit.empty() ? "" : " (" + build_info().commit + ")");
  const auto add = [&](const std::string& label, const std::string& value) {
    text += fmt::format("{:<14}{}\n", label, plain(value));
  };
  const auto of = [](const Fact<std::string>& fact) { return fact ? *fact : std::string(phrase(fact.state)); };
  add("system",
      *facts.system.distribution + " " + *facts.system.distribution_version + ", " + of(facts.system.architecture));
  add("kernel", of(facts.system.kernel));
  for (const Advice& advice : advice_of(one))
    add("GPU", fmt::format("{} {} {} capability {}", advice.address, advice.pci_id,
                           advice.product.empty() ? "unknown" : advice.product,
                           advice.capability.empty() ? "unknown" : advice.capability));
  if (facts.gpus.empty()) add("GPU", facts.system.wsl && facts.nodes.dxg ? "behind WSL" : "none on the bus");
  add("driver", driver_line(facts));
  for (const char* name : {"libcuda", "libcudart", "libcublas", "libcudnn", "libnccl"})
    if (const Library* library = facts.libraries.first(name))
      add(name, (library->version.empty() ? "version unknown" : library->version) + "  " + library->real);
  for (const Toolkit& toolkit : *facts.libraries.toolkits) add("toolkit", toolkit.version + "  " + toolkit.folder);
  for (const Torch& torch : *facts.frameworks.torch)
    add("torch", fmt::format("{}, CUDA {}  {}", torch.version, torch.cuda.empty() ? "none" : torch.cuda, torch.folder));
  for (const Wheel& wheel : *facts.frameworks.wheels)
    if (starts_with(wheel.name, "nvidia_cudnn") || starts_with(wheel.name, "nvidia_nccl"))
      add("wheel", wheel.name + " " + wheel.version + "  " + wheel.folder);
  add("container", facts.container.kind ? *facts.container.kind : "none");
  for (const auto& [name, value] : *facts.environment) add("environment", name + "=" + shown(value));
  return text;
}

}  // namespace assay::doctor
