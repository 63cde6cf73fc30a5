// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The workers that are there: each `assay-worker-X.manifest.json` beside `assay`, or in ASSAY_WORKER_DIR, is one.
// Nothing is started for it. A manifest whose program is missing keeps its cases: they become ERROR, they never vanish.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/manifest.h"

namespace assay {

struct WorkerFile {
  Manifest manifest;
  std::filesystem::path path;  // of the program
  std::string problem;         // why it can't run: "build/assay-worker-cpu is missing: build it again"; "" when it can
};

bool serves(const WorkerFile& worker, const std::string& kind);  // devices of this kind

// ASSAY_WORKER_DIR, or the folder of this program.
std::filesystem::path worker_folder();
struct DamagedManifest {
  std::string worker;          // from the name of the file
  std::filesystem::path path;  // of the program
  std::string problem;
};

// Sorted by name; an empty list for a folder without any. A damaged manifest is an Error, because its cases would
// vanish; only who shows `damaged` to the user may go on without them.
std::vector<WorkerFile> find_workers(const std::filesystem::path& folder = worker_folder(),
                                     std::vector<DamagedManifest>* damaged = nullptr);
// The workers of these programs, from the manifests beside them, in this order. Error for one that is missing or
// damaged.
std::vector<WorkerFile> workers_at(const std::vector<std::filesystem::path>& programs);
// "build/assay-worker-cpu" -> "build/assay-worker-cpu.manifest.json"
std::filesystem::path manifest_of(const std::filesystem::path& program);
// XXH3 (64 bits, 16 hex digits) of a file; "" when it can't be read.
std::string file_xxh3(const std::filesystem::path& path);
std::string text_xxh3(std::string_view text);

}  // namespace assay
