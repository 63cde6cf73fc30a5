// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch and libtorch as files, and the wheels that bring CUDA's libraries. Python is never started: what a package is
// stands in the files beside it. Trap: a name in site-packages may come from pip and from conda, one over the other.
#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

std::string variable(const Root& root, const char* name) {
  const auto found = root.environment()->find(name);
  return found == root.environment()->end() || found->second.empty() || found->second[0] != '/' ? "" : found->second;
}

std::vector<std::string> package_folders(const Root& root) {
  std::vector<std::string> patterns = {"/usr/lib/python3/dist-packages",        "/usr/local/lib/python3*/dist-packages",
                                       "/usr/local/lib/python3*/site-packages", "/usr/lib/python3*/site-packages",
                                       "/usr/lib64/python3*/site-packages",     "/opt/conda/lib/python3*/site-packages",
                                       "/opt/venv/lib/python3*/site-packages"};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string folder = variable(root, name); !folder.empty())
      patterns.push_back(folder + "/lib/python3*/site-packages");
  if (const std::string home = variable(root, "HOME"); !home.empty()) {
    patterns.push_back(home + "/.local/lib/python3*/site-packages");
    patterns.push_back(home + "/miniconda3/lib/python3*/site-packages");
  }
  for (const std::string& folder :
       split(root.environment()->count("PYTHONPATH") ? root.environment()->at("PYTHONPATH") : "", ':'))
    if (starts_with(folder, "/")) patterns.push_back(folder);
  std::vector<std::string> folders;
  std::set<std::string> seen;
  for (const std::string& pattern : patterns)
    for (const std::string& path : root.glob(pattern))
      if (const Fact<std::string> real = root.resolved(path); seen.insert(real ? *real : path).second)
        folders.push_back(real ? *real : path);
  return folders;
}

// cuda: Optional[str] = '13.0'  ->  13.0; "" for None
std::string assigned(const std::string& text, const std::string& name) {
  for (const std::string& row : split(text, '\n')) {
    if (!starts_with(row, name)) continue;
    const std::string rest = row.substr(name.size());
    if (rest.empty() || (rest[0] != ' ' && rest[0] != ':' && rest[0] != '=')) continue;
    const std::size_t begin = rest.find('\''), end = rest.rfind('\'');
    return begin == std::string::npos || end <= begin ? "" : rest.substr(begin + 1, end - begin - 1);
  }
  return "";
}

void read_torch(const Root& root, const std::string& folder, const std::vector<std::string>& names, Facts& facts) {
  const bool by_pip = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return starts_with(name, "torch-") && name.size() > 10 && name.substr(name.size() - 10) == ".dist-info" &&
           trim(root.text(folder + "/" + name + "/INSTALLER").value) != "conda";
  });
  // ENV/lib/python3.11/site-packages -> ENV/conda-meta
  std::string environment = folder;
  for (int up = 0; up < 3; ++up) environment.erase(std::min(environment.rfind('/'), environment.size()));
  bool by_conda = false;
  for (const std::string& name : *root.list(environment + "/conda-meta"))
    by_conda = by_conda || starts_with(name, "pytorch-") || starts_with(name, "libtorch-");
  if (by_conda && by_pip) facts.frameworks.conda_and_pip.push_back(folder);
  const Fact<std::string> version = root.text(folder + "/torch/version.py");
  if (!version) {
    if (version.unknown()) facts.frameworks.torch.state = version.state;
    return;
  }
  Torch torch;
  torch.folder = folder;
  torch.version = assigned(*version, "__version__");
  torch.cuda = assigned(*version, "cuda");
  torch.hip = assigned(*version, "hip");
  torch.from = by_conda && !by_pip ? "conda" : "pip";
  torch.cuda_library = root.exists(folder + "/torch/lib/libtorch_cuda.so");
  facts.frameworks.torch.value.push_back(torch);
}

void read_libtorch(const Root& root, Facts& facts) {
  std::vector<std::string> folders = root.glob("/opt/libtorch*");
  for (const std::string& path : root.glob("/usr/local/libtorch*")) folders.push_back(path);
  for (const char* name : {"LIBTORCH", "TORCH_HOME_LIB"})
    if (const std::string folder = variable(root, name); !folder.empty()) folders.push_back(folder);
  if (const std::string folder = variable(root, "Torch_DIR"); !folder.empty())  // LIBTORCH/share/cmake/Torch
    if (const std::size_t share = folder.find("/share/cmake"); share != std::string::npos)
      folders.push_back(folder.substr(0, share));
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    const Fact<std::string> version = root.line(folder + "/build-version");
    if (!version || !seen.insert(folder).second) continue;
    Torch torch{folder, *version, "", "", "libtorch", root.exists(folder + "/lib/libtorch_cuda.so")};
    // "2.11.0+cu130"
    if (const std::size_t plus = version->find("+cu"); plus != std::string::npos && version->size() > plus + 4)
      torch.cuda = version->substr(plus + 3, version->size() - plus - 4) + "." + version->back();
    facts.frameworks.torch.value.push_back(torch);
  }
}

}  // namespace

void gather_frameworks(const Root& root, Facts& facts) {
  Frameworks& frameworks = facts.frameworks;
  frameworks.torch = {Known::value, {}, "site-packages"};
  frameworks.wheels = {Known::value, {}, "site-packages"};
  for (const std::string& folder : package_folders(root)) {
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (names.unknown()) frameworks.torch.state = frameworks.wheels.state = names.state;
    for (const std::string& name : *names) {  // nvidia_nccl_cu12-2.27.3.dist-info
      const std::size_t end = name.find(".dist-info"), dash = name.find('-');
      if (end == std::string::npos || !starts_with(name, "nvidia_") || dash == std::string::npos) continue;
      frameworks.wheels.value.push_back({folder, name.substr(0, dash), name.substr(dash + 1, end - dash - 1)});
    }
    read_torch(root, folder, *names, facts);
  }
  read_libtorch(root, facts);
}

}  // namespace assay::doctor
