// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See doctor_probes.h.
#include "harness/commands/doctor_probes.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/parent/ask_worker.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

using doctor::Fact;
using doctor::Known;
using doctor::ProbeResult;

constexpr const char* names[] = {"init", "context", "allocation", "kernel", "synchronise", "product_bf16"};
constexpr int driver_too_old = 35;

// Of {"schema": "assay.probe.v1", ..., "ok": false, "detail": "simt:0: cudaMalloc: cudaErrorMemoryAllocation (2): ..."}
void read_answer(const WorkerLine& said, ProbeResult& probe) {
  probe.detail = said.problem;
  probe.outcome = said.late ? "late" : "crashed";
  if (said.lines.empty() && said.problem.empty())
    probe.detail = said.last_words.empty() ? "it printed nothing" : said.last_words.back();
  if (said.lines.empty()) return;
  try {
    const Json answer = parse_json(said.lines.front());
    if (answer.at("schema") != "assay.probe.v1" || answer.at("probe") != probe.name) return;
    probe.detail = answer.at("detail");
    probe.outcome = answer.at("ok") ? "ok" : "failed";
    // cuda_probes.cpp says it: of the worker, and not of the device.
    if (probe.outcome == "failed" && probe.detail.find("this build has no code for capability") != std::string::npos)
      probe.outcome = doctor::no_code;
  } catch (const Json::exception&) {
    return;
  }
  static const RE2 failed_call("\\b(cuda\\w+): cudaError\\w+ \\((\\d{1,6})\\)");
  RE2::PartialMatch(probe.detail, failed_call, &probe.call, &probe.code);
}

std::vector<ProbeResult> try_worker(const WorkerFile& worker, double limit_s) {
  std::vector<ProbeResult> probes;
  bool goes_on = true;
  for (const char* name : names) {
    ProbeResult probe{name, "not_run", worker.manifest.worker, "", "", 0, !serves(worker, "cuda")};
    if (goes_on) read_answer(ask_line(worker.path, fmt::format("--probe {}", name), limit_s), probe);
    goes_on = probe.outcome == "ok";
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace

Fact<std::vector<ProbeResult>> try_devices(const std::string& wanted, double limit_s) {
  const bool newest = wanted.empty() || wanted == "cuda";
  std::vector<DamagedManifest> damaged;  // the worker of such a one can try nothing
  std::vector<WorkerFile> workers = find_workers(worker_folder(), &damaged);
  workers.erase(std::remove_if(workers.begin(), workers.end(),
                               [&](const WorkerFile& worker) {
                                 return newest ? !serves(worker, "cuda") : worker.manifest.worker != wanted;
                               }),
                workers.end());
  if (workers.empty() && !newest)
    throw UsageError(
        fmt::format("--probe-by: there is no assay-worker-{} in {}", shown(wanted), worker_folder().string()));
  Fact<std::vector<ProbeResult>> probes;
  std::reverse(workers.begin(), workers.end());  // cuda13 before cuda12
  std::ptrdiff_t furthest = 0;
  for (const WorkerFile& worker : workers) {
    if (!worker.problem.empty()) continue;
    const std::vector<ProbeResult> tried = try_worker(worker, limit_s);
    const auto with = [&](const char* outcome) {
      return std::count_if(tried.begin(), tried.end(), [&](const ProbeResult& p) { return p.outcome == outcome; });
    };
    if (with("ok") >= furthest) probes = Fact<std::vector<ProbeResult>>::of(tried, "workers");
    furthest = std::max<std::ptrdiff_t>(furthest, with("ok"));
    if (tried.front().code != driver_too_old && with(doctor::no_code) == 0) break;  // else an older worker may do
  }
  return probes;
}

}  // namespace assay
