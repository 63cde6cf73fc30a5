// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See workers.h.
#include "harness/parent/workers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/open_file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

constexpr const char* prefix = "assay-worker-";
constexpr const char* ending = ".manifest.json";

std::string problem_of(const std::filesystem::path& program) {
  std::error_code failed;
  if (!std::filesystem::exists(program, failed))
    return fmt::format("{} is missing although its manifest is there; build it again", program.string());
  if (access(program.c_str(), X_OK) != 0)
    return fmt::format("{} may not be executed; give it the permission (chmod +x)", program.string());
  return {};
}

// "build/assay-worker-cpu.manifest.json" -> "build/assay-worker-cpu"
std::filesystem::path program_of(const std::filesystem::path& manifest) {
  const std::string name = manifest.filename().string();
  return manifest.parent_path() / name.substr(0, name.size() - std::string_view(ending).size());
}

WorkerFile read_worker(const std::filesystem::path& file) {
  WorkerFile worker;
  worker.manifest = read_manifest(file);
  worker.path = program_of(file);
  if (worker.path.filename() != prefix + worker.manifest.worker)
    throw Error(fmt::format("{} describes the worker '{}', not the one its name says; build the worker again",
                            file.string(), worker.manifest.worker));
  worker.problem = problem_of(worker.path);
  return worker;
}

}  // namespace

bool serves(const WorkerFile& worker, const std::string& kind) {
  const std::vector<std::string>& kinds = worker.manifest.devices;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::filesystem::path worker_folder() {
  const char* folder = std::getenv("ASSAY_WORKER_DIR");
  return folder != nullptr && *folder != '\0' ? std::filesystem::path(folder) : program_folder();
}

std::vector<WorkerFile> find_workers(const std::filesystem::path& folder, std::vector<DamagedManifest>* damaged) {
  std::error_code failed;
  std::vector<std::filesystem::path> manifests;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (starts_with(name, prefix) && name.size() > std::string_view(ending).size() &&
        name.compare(name.size() - std::string_view(ending).size(), std::string::npos, ending) == 0)
      manifests.push_back(entry.path());
  }
  if (failed)
    throw Error(fmt::format("cannot read the worker folder {}: {}; ASSAY_WORKER_DIR names another", folder.string(),
                            failed.message()));
  std::sort(manifests.begin(), manifests.end());
  std::vector<WorkerFile> workers;
  for (const std::filesystem::path& file : manifests) try {
      workers.push_back(read_worker(file));
    } catch (const Error& problem) {
      if (damaged == nullptr) throw;
      const std::filesystem::path program = program_of(file);
      damaged->push_back(
          {program.filename().string().substr(std::string_view(prefix).size()), program, problem.what()});
    }
  return workers;
}

std::vector<WorkerFile> workers_at(const std::vector<std::filesystem::path>& programs) {
  std::vector<WorkerFile> workers;
  for (const std::filesystem::path& program : programs) workers.push_back(read_worker(manifest_of(program)));
  return workers;
}

std::filesystem::path manifest_of(const std::filesystem::path& program) { return program.string() + ending; }

std::string file_xxh3(const std::filesystem::path& path) {
  const Descriptor file = open_file(path);
  if (!file) return {};
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> chunk(std::size_t{1} << 20);
  for (ssize_t n; (n = read(file.get(), chunk.data(), chunk.size())) != 0;) {
    if (n < 0) return {};
    XXH3_64bits_update(state.get(), chunk.data(), static_cast<std::size_t>(n));
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

std::string text_xxh3(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

}  // namespace assay
