// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See worker_choice.h.
#include "harness/parent/worker_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/base/text.h"
#include "harness/base/worker_name.h"
#include "harness/parent/ask_worker.h"
#include "harness/parent/profile.h"

namespace assay {
namespace {

constexpr double limit_s = 20;  // a driver that initialises many GPUs takes seconds

unsigned long number_of(const std::string& worker) {
  const std::string digits = worker.substr(without_number(worker).size());
  return digits.empty() || digits.size() > 9 ? 0 : std::stoul(digits);
}

// The newest of each family first.
std::vector<const WorkerFile*> candidates_of(const std::string& kind, const std::vector<WorkerFile>& workers,
                                             const WorkerWish& only) {
  std::vector<const WorkerFile*> all, wanted;
  for (const WorkerFile& worker : workers) {
    if (!serves(worker, kind)) continue;
    all.push_back(&worker);
    if (std::find(only.names.begin(), only.names.end(), worker.manifest.worker) != only.names.end())
      wanted.push_back(&worker);
  }
  std::vector<const WorkerFile*>& order = wanted.empty() ? all : wanted;
  std::stable_sort(order.begin(), order.end(), [](const WorkerFile* a, const WorkerFile* b) {
    const std::string &left = a->manifest.worker, &right = b->manifest.worker;
    return std::tuple(without_number(left), number_of(right)) < std::tuple(without_number(right), number_of(left));
  });
  return order;
}

// A worker that says nothing about its code is trusted: anyone can write one.
bool has_code(const DeviceInfo& device) { return device.fact("has_code", 1) != 0; }

std::string version_text(double number) {
  const auto version = static_cast<long>(number);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

struct Asked {
  const WorkerFile* worker;
  WorkerAnswer answer;

  const DeviceInfo* find(const std::string& id) const {
    for (const DeviceInfo& device : answer.devices)
      if (device.id == id) return &device;
    return nullptr;
  }
  std::string why_not(const std::string& id) const {
    const std::string name = "assay-worker-" + worker->manifest.worker;
    if (!answer.problem.empty()) return fmt::format("{}: {}", name, answer.problem);
    const DeviceInfo* device = find(id);
    if (device == nullptr)
      return fmt::format("{} sees {}, and not this one", name, counted(answer.devices.size(), "device"));
    return fmt::format("{} was built without machine code for compute capability {:.1f}", name,
                       device->fact("capability") / 10);
  }
};

FoundDevice choose(const std::string& id, const std::vector<Asked>& asked, const WorkerWish& only) {
  const auto best = [&] {
    for (const Asked& one : asked)
      if (const DeviceInfo* device = one.find(id); device != nullptr && has_code(*device)) return &one;
    for (const Asked& one : asked)  // without code: its cases end in errors that say so
      if (one.find(id) != nullptr) return &one;
    return &asked.front();
  }();
  FoundDevice found{*best->find(id), std::nullopt, best->worker->manifest.worker, ""};
  std::vector<std::string> passed_over;
  std::size_t alternatives = 0;
  for (const Asked& one : asked) {
    if (!are_alternatives(one.worker->manifest.worker, found.worker)) continue;
    ++alternatives;
    if (number_of(one.worker->manifest.worker) > number_of(found.worker)) passed_over.push_back(one.why_not(id));
  }
  if (!only.why.empty() && std::find(only.names.begin(), only.names.end(), found.worker) != only.names.end()) {
    found.why = only.why;
  } else if (!passed_over.empty()) {
    found.why = "the newest that can: " + join(passed_over, "; ");
  } else if (const double driver = found.info.fact("driver_cuda_version"); alternatives > 1) {
    found.why = "the newest there is";
    if (driver > 0) found.why += fmt::format(", and the driver, which knows CUDA {}, runs it", version_text(driver));
  } else {
    found.why = fmt::format("the only one for {} devices that is there", found.info.kind);
  }
  return found;
}

}  // namespace

bool may_serve(const WorkerFile& worker, const FoundDevice& device) {
  const std::string& name = worker.manifest.worker;
  const bool left_to_another = !device.worker.empty() && name != device.worker && are_alternatives(name, device.worker);
  return serves(worker, device.info.kind) && !left_to_another;
}

ServedDevices ask_workers(const std::string& kind, const std::vector<WorkerFile>& workers, const WorkerWish& only) {
  ServedDevices served;
  std::vector<Asked> asked;
  for (const WorkerFile* worker : candidates_of(kind, workers, only)) {
    Asked one{worker, {worker->problem, {}}};
    if (one.answer.problem.empty()) one.answer = ask_worker(worker->path, limit_s * patience_scale());
    asked.push_back(std::move(one));
  }
  served.asked = !asked.empty();
  std::vector<std::string> ids;
  for (const Asked& one : asked)
    for (const DeviceInfo& device : one.answer.devices)
      if (device.kind == kind && std::find(ids.begin(), ids.end(), device.id) == ids.end()) ids.push_back(device.id);
  for (const std::string& id : ids) served.devices.push_back(choose(id, asked, only));
  for (const Asked& one : asked)
    served.problems +=
        "; " + (one.answer.problem.empty() ? fmt::format("assay-worker-{} sees {}", one.worker->manifest.worker,
                                                         counted(one.answer.devices.size(), "device"))
                                           : one.why_not(""));
  return served;
}

}  // namespace assay
