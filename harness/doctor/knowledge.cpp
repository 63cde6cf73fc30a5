// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See knowledge.h. Rule of machine code: that of 8.0 runs on 8.0 and every later 8.x, not on 9.0; PTX of 8.0 can be
// compiled by the driver for anything later.
#include "harness/doctor/knowledge.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "harness/base/csv_file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"

namespace assay::doctor {
namespace {

// PCI ids of NVIDIA's rise with its families, roughly. First id of each range, as identities.csv has them; up to 1aff
// as pci.ids has them: Maxwell lies on both sides of the first Pascal. Where no card is known nothing is guessed.
struct Range {
  unsigned first;
  const char* family;
  const char* capability;
};
constexpr Range ranges[] = {{0x0000, "", ""},
                            {0x1340, "maxwell", "5.0"},
                            {0x13c0, "maxwell", "5.2"},
                            {0x1440, "", ""},
                            {0x15f0, "pascal", "6.0"},
                            {0x1600, "maxwell", "5.2"},
                            {0x1680, "", ""},
                            {0x1720, "pascal", "6.0"},
                            {0x1730, "", ""},
                            {0x1740, "maxwell", "5.0"},
                            {0x17c0, "maxwell", "5.2"},
                            {0x1800, "", ""},
                            {0x1b00, "pascal", "6.1"},
                            {0x1d80, "volta", "7.0"},
                            {0x1e00, "turing", "7.5"},
                            {0x2080, "ampere", "8.0"},
                            {0x2180, "turing", "7.5"},
                            {0x2200, "ampere", "8.6"},
                            {0x2300, "hopper", "9.0"},
                            {0x2400, "ampere", "8.6"},
                            {0x2600, "ada", "8.9"},
                            {0x2900, "blackwell", "10.0"},
                            {0x2a00, "", ""},
                            {0x2b80, "blackwell", "12.0"},
                            {0x2e00, "blackwell", "12.1"},
                            {0x2f00, "blackwell", "12.0"},
                            {0x3000, "", ""},
                            {0x3180, "blackwell", "10.3"},
                            {0x3300, "", ""}};

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list = split(text, ' ');
  list.erase(std::remove(list.begin(), list.end(), ""), list.end());
  return list;
}

int major_of(const std::string& version) { return std::atoi(version.c_str()); }

// "13.0.2" -> "13.0"
std::string two_parts(const std::string& version) {
  const std::size_t dot = version.find('.');
  return dot == std::string::npos ? version : version.substr(0, version.find('.', dot + 1));
}

}  // namespace

std::pair<std::string, std::string> guess(unsigned long id) {
  const Range* last = ranges;
  for (const Range& range : ranges)
    if (id >= range.first) last = &range;
  return {last->family, last->capability};
}

int compare_versions(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '.'), right = split(b, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const int x = i < left.size() ? std::atoi(left[i].c_str()) : 0,
              y = i < right.size() ? std::atoi(right[i].c_str()) : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

bool runs_on(const WheelTag& wheel, const std::string& capability) {
  for (const std::string& code : wheel.sass)
    if (major_of(code) == major_of(capability) && compare_versions(code, capability) <= 0) return true;
  return !wheel.ptx.empty() && compare_versions(wheel.ptx, capability) <= 0;
}

Knowledge::Knowledge(const std::filesystem::path& results) : classes_(read_class_table(results)) {
  const std::filesystem::path folder = results / "doctor";
  for (CsvFile file(folder / "capabilities.csv", {"capability", "family", "oldest_cuda", "last_cuda", "oldest_driver",
                                                  "last_branch", "module", "source"});
       file.next();)
    capabilities.push_back({file.required_text("capability"), file.required_text("family"), file.text("oldest_cuda"),
                            file.text("last_cuda"), file.text("oldest_driver"), file.text("last_branch"),
                            file.required_text("module"), file.required_text("source")});
  for (CsvFile file(folder / "cuda.csv", {"cuda", "native_driver", "minimum_driver", "source"}); file.next();)
    releases.push_back({file.required_text("cuda"), file.required_text("native_driver"),
                        file.required_text("minimum_driver"), file.required_text("source")});
  for (CsvFile file(folder / "wheels.csv", {"tag", "sass", "by_release", "ptx", "minimum_driver", "note", "source"});
       file.next();)
    wheels.push_back({file.required_text("tag"), words(file.required_text("sass")), file.text("ptx"),
                      file.required_text("minimum_driver"), file.text("note"), file.required_text("source"),
                      words(file.text("by_release"))});
  for (CsvFile file(folder / "environment.csv",
                    {"variable", "when", "value", "severity", "what", "why", "action", "source"});
       file.next();)
    traps.push_back({file.required_text("variable"), file.required_text("when"), file.text("value"),
                     file.required_text("severity"), file.required_text("what"), file.required_text("why"),
                     file.required_text("action"), file.required_text("source")});
  for (CsvFile file(folder / "drivers.csv", {"driver", "fixed_in", "what", "source"}); file.next();)
    drivers.push_back({file.required_text("driver"), file.required_text("fixed_in"), file.required_text("what"),
                       file.required_text("source")});
  for (CsvFile file(folder / "nvml.csv", {"code", "name", "meaning", "action", "source"}); file.next();)
    nvml_codes.push_back({static_cast<int>(file.required_number("code")), file.required_text("name"),
                          file.required_text("meaning"), file.required_text("action")});
}

const Capability* Knowledge::capability(const std::string& wanted) const {
  const Capability* best = nullptr;
  for (const Capability& row : capabilities)
    if (!wanted.empty() && major_of(row.capability) == major_of(wanted) &&
        compare_versions(row.capability, wanted) <= 0 &&
        (best == nullptr || compare_versions(best->capability, row.capability) < 0))
      best = &row;
  return best;
}

Card Knowledge::card(const PciDevice& gpu) const {
  Card card;
  const Identity* found = nullptr;
  bool vgpu = false;
  for (const Identity& identity : classes_.identities()) {
    if (identity.vendor != *gpu.vendor || identity.device != *gpu.device) continue;
    const bool same_board = identity.subvendor == *gpu.subvendor && identity.subdevice == *gpu.subdevice;
    if (!same_board && !identity.subvendor.empty()) continue;
    if (found == nullptr || same_board) found = &identity;
    vgpu = vgpu || (same_board && starts_with(identity.class_id, "vgpu_"));
  }
  if (found != nullptr) {
    card.product = found->product;
    card.family = found->family;
    card.capability = found->compute_capability;
    card.class_id = found->class_id;
    card.form_factor = found->form_factor;
    card.exact = true;
    card.vgpu = vgpu;
    card.geforce = card.product.find("GeForce") != std::string::npos || starts_with(card.class_id, "rtx_20") ||
                   starts_with(card.class_id, "rtx_30") || starts_with(card.class_id, "rtx_40") ||
                   starts_with(card.class_id, "rtx_50") || starts_with(card.class_id, "gtx_");
  } else {
    std::tie(card.family, card.capability) = guess(std::strtoul(gpu.device->c_str(), nullptr, 16));
  }
  card.row = capability(card.capability);
  return card;
}

const CudaRelease* Knowledge::cuda(const std::string& version) const {
  for (const CudaRelease& release : releases)
    if (release.cuda == two_parts(version)) return &release;
  return nullptr;
}

const CudaRelease* Knowledge::newest_for(const std::string& driver) const {
  const CudaRelease* newest = nullptr;
  for (const CudaRelease& release : releases)
    if (compare_versions(release.native_driver, driver) <= 0 &&
        (newest == nullptr || compare_versions(newest->cuda, release.cuda) < 0))
      newest = &release;
  return newest;
}

std::string Knowledge::minimum_driver(const std::string& cuda_version) const {
  if (const CudaRelease* release = cuda(cuda_version)) return release->minimum_driver;
  for (const CudaRelease& release : releases)  // from 11 on, all of one major number share it
    if (major_of(release.cuda) == major_of(cuda_version) && major_of(cuda_version) >= 11) return release.minimum_driver;
  return "";
}

const WheelTag* Knowledge::wheel(const std::string& cuda_version) const {
  std::string tag = two_parts(cuda_version);
  tag.erase(std::remove(tag.begin(), tag.end(), '.'), tag.end());
  for (const WheelTag& one : wheels)
    if (one.tag == "cu" + tag) return &one;
  return nullptr;
}

std::vector<std::string> Knowledge::wheels_for(const std::string& wanted) const {
  std::vector<std::string> tags;
  for (const WheelTag& one : wheels)
    if (runs_on(one, wanted)) tags.push_back(one.tag);
  std::sort(tags.rbegin(), tags.rend());
  return tags;
}

const NvmlCode* Knowledge::nvml(int code) const {
  for (const NvmlCode& row : nvml_codes)
    if (row.code == code) return &row;
  return nullptr;
}

std::vector<std::string> Knowledge::variables() const {
  std::vector<std::string> names = {"CUDA_HOME",
                                    "CUDA_PATH",
                                    "CONDA_PREFIX",
                                    "VIRTUAL_ENV",
                                    "LD_LIBRARY_PATH",
                                    "NVIDIA_VISIBLE_DEVICES",
                                    "NVIDIA_DRIVER_CAPABILITIES",
                                    "CUDA_VISIBLE_DEVICES",
                                    "SLURM_JOB_ID",
                                    "SLURM_JOB_GPUS",
                                    "SLURM_STEP_GPUS",
                                    "KUBERNETES_SERVICE_HOST",
                                    "CUDA_MPS_PIPE_DIRECTORY"};
  for (const Trap& trap : traps) names.push_back(trap.variable);
  return names;
}

}  // namespace assay::doctor
