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

// cuda: Optional[str] = '13.0'  ->  13.0; "" for None; nothing where the file does not say it so.
std::optional<std::string> assigned(const std::string& text, const std::string& name) {
  for (const std::string& row : split(text, '\n')) {
    if (!starts_with(row, name)) continue;
    const std::size_t equals = row.find('=');
    const std::string between = row.substr(name.size(), std::min(equals, row.size()) - name.size());
    if (equals == std::string::npos || (!trim(between).empty() && trim(between)[0] != ':')) continue;
    const std::string value = trim(row.substr(equals + 1));
    if (value == "None") return "";
    if (value.size() < 3 || (value[0] != '\'' && value[0] != '"') || value.find(value[0], 1) != value.size() - 1)
      return std::nullopt;
    return value.substr(1, value.size() - 2);
  }
  return std::nullopt;
}

// Of "2.11.0+cu130", "2.11.0+cpu": "13.0", ""; nothing for a version that doesn't say.
std::optional<std::string> cuda_of(const std::string& version) {
  const std::size_t plus = version.find('+');
  const std::string build = plus == std::string::npos ? "" : version.substr(plus + 1);
  if (build == "cpu") return "";
  if (!starts_with(build, "cu") || build.size() < 4 || build.find_first_not_of("0123456789", 2) != std::string::npos)
    return std::nullopt;
  return build.substr(2, build.size() - 3) + "." + build.back();
}

// A torch may be there, and nobody can say which.
template <class T>
bool seen(const Fact<T>& fact, Facts& facts) {
  if (fact.unknown()) facts.frameworks.torch.state = fact.state;
  return static_cast<bool>(fact);
}

void read_torch(const Root& root, const std::string& folder, const std::vector<std::string>& names, Facts& facts) {
  const auto read = [&](const std::string& path) {
    const Fact<std::string> text = root.text(path);
    seen(text, facts);
    return *text;
  };
  const bool by_pip = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return starts_with(name, "torch-") && name.size() > 10 && name.substr(name.size() - 10) == ".dist-info" &&
           trim(read(folder + "/" + name + "/INSTALLER")) != "conda";
  });
  // ENV/lib/python3.11/site-packages -> ENV/conda-meta
  std::string environment = folder;
  for (int up = 0; up < 3; ++up) environment.erase(std::min(environment.rfind('/'), environment.size()));
  bool by_conda = false;
  const Fact<std::vector<std::string>> conda = root.list(environment + "/conda-meta");
  seen(conda, facts);
  for (const std::string& name : *conda)
    by_conda = by_conda || starts_with(name, "pytorch-") || starts_with(name, "libtorch-");
  if (by_conda && by_pip) facts.frameworks.conda_and_pip.push_back(folder);
  const Fact<std::string> version = root.text(folder + "/torch/version.py");
  if (!seen(version, facts)) return;
  const auto number = assigned(*version, "__version__"), cuda = assigned(*version, "cuda");
  if (!number || number->empty() || !cuda) {  // what is no version is no build for the CPU
    facts.frameworks.torch.state = Known::unreadable;
    return;
  }
  Torch torch;
  torch.folder = folder;
  torch.version = *number;
  torch.cuda = *cuda;
  torch.hip = assigned(*version, "hip").value_or("");
  torch.from = by_conda && !by_pip ? "conda" : "pip";
  torch.cuda_library = seen(root.status(folder + "/torch/lib/libtorch_cuda.so"), facts);
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
  std::set<std::string> taken;
  for (const std::string& folder : folders) {
    const Fact<std::string> version = root.line(folder + "/build-version");
    if (!seen(version, facts) || !taken.insert(folder).second) continue;
    const Fact<Status> library = root.status(folder + "/lib/libtorch_cuda.so");
    seen(library, facts);
    if (const auto cuda = cuda_of(*version))
      facts.frameworks.torch.value.push_back({folder, *version, *cuda, "", "libtorch", static_cast<bool>(library)});
    else
      facts.frameworks.torch.state = Known::unreadable;
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
