// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every copy of the libraries that a GPU program loads: from the loader's cache, LD_LIBRARY_PATH, the default folders
// and the places where toolkits, wheels and conda put theirs. Nothing is loaded: a version is what the name of the file
// behind all links says. Traps: the loader takes the first that it finds, which may belong to another driver; the
// libcuda in a toolkit's stubs folder is for linking only and answers "stub library" to every call.
#include <algorithm>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/elf.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

const std::set<std::string> watched_names = {"libcuda",         "libnvidia-ml",    "libnvidia-ptxjitcompiler",
                                             "libnvidia-nvvm",  "libcudadebugger", "libcudart",
                                             "libcublas",       "libcublasLt",     "libcudnn",
                                             "libnccl",         "libnvrtc",        "libcufft",
                                             "libcusparse",     "libcusolver",     "libcurand",
                                             "libcupti",        "libcudnn_ops",    "libcudnn_graph",
                                             "libcudnn_cnn",    "libnccl-net",     "libcusparseLt",
                                             "libnvshmem_host", "libcufile",       "libnvJitLink",
                                             "libdxcore"};

struct Folder {
  std::string path, from;
};

// "libcuda.so.580.95.05" -> "libcuda", "580.95.05"; false for what isn't watched.
bool parse_name(const std::string& file, std::string& name, std::string& version) {
  const std::size_t so = file.find(".so");
  if (so == std::string::npos) return false;
  name = file.substr(0, so);
  version = file.size() > so + 4 && file[so + 3] == '.' ? file.substr(so + 4) : "";
  return watched_names.count(name) > 0;
}

std::vector<Folder> usual_folders(const Root& root, const Facts& facts) {
  std::vector<Folder> folders;
  const std::string machine = facts.system.architecture ? *facts.system.architecture : "x86_64";
  const auto add = [&](const std::string& pattern, const std::string& from) {
    for (const std::string& path : root.glob(pattern)) folders.push_back({path, from});
  };
  for (const char* base : {"/lib", "/usr/lib"}) add(std::string(base) + "/" + machine + "-linux-gnu", "default");
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) add(folder, "default");
  add("/usr/lib/" + machine + "-linux-gnu/nvidia*", "driver");
  add("/usr/lib/" + machine + "-linux-gnu/nvidia*/current", "driver");
  add("/usr/lib/" + machine + "-linux-gnu/stubs", "toolkit");
  add("/usr/lib64/nvidia*", "driver");
  add("/usr/lib/nvidia*", "driver");
  add("/usr/lib/wsl/lib", "driver");
  add("/usr/local/nvidia/lib64", "driver");
  add("/run/nvidia/driver/usr/lib/" + machine + "-linux-gnu", "driver");
  for (const char* base : {"/usr/local/cuda*", "/opt/cuda*"})
    for (const char* below : {"/lib64", "/lib64/stubs", "/lib", "/compat", "/targets/*/lib", "/targets/*/lib/stubs"})
      add(std::string(base) + below, "toolkit");
  for (const Wheel& wheel : facts.frameworks.wheels.value) {
    add(wheel.folder + "/nvidia/*/lib", "wheel");
    add(wheel.folder + "/torch/lib", "wheel");
  }
  for (const Torch& torch : facts.frameworks.torch.value)
    add(torch.from == "libtorch" ? torch.folder + "/lib" : torch.folder + "/torch/lib", "wheel");
  for (const char* variable : {"CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"})
    if (const auto set = root.environment()->find(variable); set != root.environment()->end() && set->second[0] == '/')
      for (const char* below : {"/lib", "/lib64"})
        add(set->second + below, std::string(variable) == "CONDA_PREFIX" ? "conda" : "toolkit");
  return folders;
}

class Collector {
 public:
  Collector(const Root& root, const Facts& facts) : root_(root), facts_(facts) {}

  void add(const std::string& path, const std::string& from, bool searched) {
    const std::string file = path.substr(path.rfind('/') + 1);
    Library library;
    std::string written;
    if (!parse_name(file, library.name, written) || !seen_paths_.insert(path).second) return;
    const Fact<std::string> real = root_.resolved(path);
    if (!seen(real, searched)) return;
    const Fact<Status> status = root_.node(*real);
    if (!seen(status, searched) || status->kind != Status::Kind::file) return;
    library.path = path;
    library.real = *real;
    std::string ignored;
    parse_name(real->substr(real->rfind('/') + 1), ignored, library.version);
    library.from = from;
    library.device = status->device;
    library.inode = status->inode;
    library.bytes = status->size;
    const bool versioned = !written.empty();  // programs ask for "libcuda.so.1", never for "libcuda.so"
    const Fact<std::string> machine = elf_machine(root_, *real);
    if (!versioned && machine.state == Known::unreadable) return;  // a text for the linker
    if (!seen(machine, searched)) return;
    library.machine = *machine;
    library.stub = path.find("/stubs/") != std::string::npos || real->find("/stubs/") != std::string::npos;
    library.compat = real->find("/compat/") != std::string::npos;
    // The loader passes over files for other machines.
    const bool fits = !facts_.system.architecture || library.machine == *facts_.system.architecture;
    const auto key = std::make_pair(library.name, library.real);
    if (const auto known = index_.find(key); known != index_.end()) {
      Library& same = found_[known->second];
      if (searched && fits && versioned && same.order < 0) same.order = next_[library.name]++;
      return;
    }
    if (searched && fits && versioned) library.order = next_[library.name]++;
    index_[key] = found_.size();
    found_.push_back(library);
  }
  void add_folder(const Folder& folder, bool searched) {
    const Fact<std::vector<std::string>>& names = listed(folder.path);
    seen(names, searched);
    for (const std::string& name : *names) add(folder.path + "/" + name, folder.from, searched);
  }
  Fact<std::vector<Library>> take() {
    if (searched_.unknown()) return Fact<std::vector<Library>>::not_known(searched_.state, searched_.source);
    return Fact<std::vector<Library>>::of(std::move(found_), "/etc/ld.so.cache");
  }
  const Fact<bool>& elsewhere() const { return elsewhere_; }
  // True for a value; what can't be known may be a library.
  template <class T>
  bool seen(const Fact<T>& fact, bool searched) {
    Fact<bool>& all = searched ? searched_ : elsewhere_;
    if (fact.unknown() && !all.unknown()) all = Fact<bool>::not_known(fact.state, fact.source);
    return static_cast<bool>(fact);
  }

 private:
  const Fact<std::vector<std::string>>& listed(const std::string& folder) {
    const auto known = lists_.find(folder);
    if (known != lists_.end()) return known->second;
    Fact<std::vector<std::string>> names = root_.list(folder);
    auto& list = names.value;
    list.erase(
        std::remove_if(list.begin(), list.end(), [](const std::string& name) { return !starts_with(name, "lib"); }),
        list.end());
    // "libcuda.so.1" before "libcuda.so", as programs ask for it.
    std::sort(list.begin(), list.end(), [](const std::string& a, const std::string& b) { return a > b; });
    return lists_[folder] = names;
  }

  const Root& root_;
  const Facts& facts_;
  std::vector<Library> found_;
  std::set<std::string> seen_paths_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
  std::map<std::string, int> next_;
  std::map<std::string, Fact<std::vector<std::string>>> lists_;
  Fact<bool> searched_ = Fact<bool>::of(true, "the loader's folders"),
             elsewhere_ = Fact<bool>::of(true, "folders of toolkits, wheels and drivers");
};

void read_search_path(const Root& root, Facts& facts, Collector& collector) {
  const auto set = root.environment()->find("LD_LIBRARY_PATH");
  if (set == root.environment()->end() || set->second.empty()) return;
  std::string folders = set->second;
  std::replace(folders.begin(), folders.end(), ';', ':');  // the loader takes both
  for (const std::string& folder : split(folders, ':')) {
    if (folder.empty() || folder[0] != '/') {
      facts.libraries.search_current_folder = true;
    } else if (const Fact<Status> status = root.status(folder); status.state == Known::absent) {
      facts.libraries.search_missing.push_back(folder);
    } else {
      collector.add_folder({folder, "LD_LIBRARY_PATH"}, true);
    }
  }
}

// {"cuda": {"name": "CUDA SDK", "version": "13.0.2"}, ...}
std::string toolkit_version(const Root& root, const std::string& folder) {
  const Fact<std::string> json = root.text(folder + "/version.json");
  if (const Json parsed = Json::parse(*json, nullptr, false); parsed.is_object() && parsed.contains("cuda"))
    if (const Json& cuda = parsed["cuda"]; cuda.is_object() && cuda.contains("version") && cuda["version"].is_string())
      return cuda["version"];
  const Fact<std::string> text = root.line(folder + "/version.txt");  // "CUDA Version 10.2.89"
  if (text) return text->substr(text->rfind(' ') + 1);
  const std::string name = folder.substr(folder.rfind('/') + 1);
  return starts_with(name, "cuda-") ? name.substr(5) : "";
}

void read_toolkits(const Root& root, Facts& facts) {
  facts.libraries.toolkits = Fact<std::vector<Toolkit>>::of({}, "/usr/local/cuda*");
  const auto seen = [&](const auto& fact) {
    if (fact.unknown()) facts.libraries.toolkits.state = fact.state;
    return static_cast<bool>(fact);
  };
  seen(root.list("/usr/local"));
  seen(root.list("/opt"));
  std::vector<std::string> folders;
  for (const char* pattern : {"/usr/local/cuda*", "/opt/cuda*", "/opt/nvidia/hpc_sdk/*/*/cuda/*"})
    for (const std::string& path : root.glob(pattern)) folders.push_back(path);
  if (seen(root.status("/usr/lib/nvidia-cuda-toolkit/bin/nvcc"))) folders.push_back("/usr/lib/nvidia-cuda-toolkit");
  std::set<std::string> taken;
  for (const std::string& folder : folders) {
    const Fact<std::string> real = root.resolved(folder);
    if (!seen(real) || !taken.insert(*real).second) continue;
    for (const char* file : {"/version.json", "/version.txt"}) seen(root.status(*real + file));
    Toolkit toolkit{*real, toolkit_version(root, *real)};
    toolkit.compiler = seen(root.status(*real + "/bin/nvcc"));
    if (toolkit.compiler || !toolkit.version.empty()) facts.libraries.toolkits.value.push_back(toolkit);
  }
}

}  // namespace

std::vector<const Library*> Libraries::named(const std::string& name) const {
  std::vector<const Library*> libraries;
  for (const Library& library : *all)
    if (library.name == name) libraries.push_back(&library);
  std::stable_sort(libraries.begin(), libraries.end(), [](const Library* a, const Library* b) {
    return static_cast<unsigned>(a->order) < static_cast<unsigned>(b->order);
  });
  return libraries;
}

const Library* Libraries::first(const std::string& name) const {
  for (const Library& library : *all)
    if (library.name == name && library.order == 0) return &library;
  return nullptr;
}

void gather_libraries(const Root& root, Facts& facts) {
  Libraries& libraries = facts.libraries;
  Collector collector(root, facts);
  read_search_path(root, facts, collector);
  const auto cache = root.text("/etc/ld.so.cache", 16 << 20).as(parse_loader_cache);
  collector.seen(cache, true);
  std::set<std::string> folders;
  for (const CacheEntry& entry : *cache) {
    folders.insert(entry.path.substr(0, entry.path.rfind('/')));
    collector.add(entry.path, "cache", true);
  }
  libraries.cache_folders = {cache.state, {folders.begin(), folders.end()}, cache.source};
  for (const Folder& folder : usual_folders(root, facts)) collector.add_folder(folder, folder.from == "default");
  libraries.elsewhere = collector.elsewhere();
  libraries.all = collector.take();
  read_toolkits(root, facts);
}

}  // namespace assay::doctor
