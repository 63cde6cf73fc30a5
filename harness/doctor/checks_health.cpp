// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A GPU that works and is not well: its memory, its clock and power now, its modes, and what the kernel's log says of
// it. Traps: "none since the driver was loaded" is not "none"; a power cap under load is normal, a brake is not.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

void simple(const Case& one, Result& result, const char* fact, const std::string& what) {
  each_gpu(one, result, {fact}, [&](const DeviceInfo& device) { return device.fact(fact) > 0 ? what : ""; });
}

void throttle(const Case& one, Result& result) {
  constexpr unsigned hardware = 0x8, software_thermal = 0x20, hardware_thermal = 0x40, brake = 0x80;
  each_gpu(one, result, {"throttle_bits"}, [](const DeviceInfo& device) -> std::string {
    const unsigned bits = static_cast<unsigned>(device.fact("throttle_bits"));
    std::vector<std::string> reasons;
    if (bits & hardware_thermal) reasons.push_back("hardware thermal slowdown");
    if (bits & software_thermal) reasons.push_back("thermal slowdown");
    if (bits & brake) reasons.push_back("power brake");
    if ((bits & hardware) && reasons.empty()) reasons.push_back("hardware slowdown");
    return reasons.empty() ? "" : "is slowed down now: " + join(reasons, ", ");
  });
}

void power_cap(const Case& one, Result& result) {
  each_gpu(one, result, {"power_limit_w", "power_limit_default_w"}, [](const DeviceInfo& device) {
    const double now = device.fact("power_limit_w"), usual = device.fact("power_limit_default_w");
    return now < usual * 0.99 ? fmt::format("is capped at {:.0f} W of {:.0f} W", now, usual) : "";
  });
}

void mig_empty(const Case& one, Result& result) {
  each_gpu(one, result, {"mig_on", "mig_instances"}, [](const DeviceInfo& device) {
    return device.fact("mig_on") > 0 && device.fact("mig_instances") == 0 ? "has MIG on and no instance" : "";
  });
}

void differs(const Case& one, Result& result, const char* now, const char* later, const std::string& what) {
  each_gpu(one, result, {now, later},
           [&](const DeviceInfo& device) { return device.fact(now) != device.fact(later) ? what : ""; });
}

void compute_mode(const Case& one, Result& result) {
  each_gpu(one, result, {"compute_mode"}, [](const DeviceInfo& device) -> std::string {
    const int mode = static_cast<int>(device.fact("compute_mode"));
    return mode == 2 ? "is in compute mode 'prohibited': no program may use it" : "";
  });
}

void exclusive(const Case& one, Result& result) {
  each_gpu(one, result, {"compute_mode"}, [](const DeviceInfo& device) -> std::string {
    const int mode = static_cast<int>(device.fact("compute_mode"));
    return mode == 1 || mode == 3 ? "is in an exclusive compute mode: the second program is told 'busy'" : "";
  });
}

void confidential(const Case& one, Result& result) {
  bool on = false;
  each_gpu(one, result, {"confidential_on"}, [&](const DeviceInfo& device) {
    on = on || device.fact("confidential_on") > 0;
    return "";
  });
  if (!on) return;
  each_gpu(one, result, {"confidential_on", "confidential_ready"}, [](const DeviceInfo& device) {
    return device.fact("confidential_ready") > 0 ? "" : "is in confidential mode and accepts no work yet";
  });
}

void recovery(const Case& one, Result& result) {
  each_gpu(one, result, {"recovery_action"}, [](const DeviceInfo& device) -> std::string {
    const int action = static_cast<int>(device.fact("recovery_action"));
    constexpr const char* actions[] = {"",
                                       "a reset of the GPU",
                                       "a restart of the machine",
                                       "its peers to be drained",
                                       "to be drained and reset",
                                       "the IMEX domain to be recovered"};
    if (action <= 0) return "";
    return std::string("asks for ") + (action < 6 ? actions[action] : "an unknown action");
  });
}

void hot(const Case& one, Result& result) {
  each_gpu(one, result, {"temperature_c", "slowdown_c"}, [](const DeviceInfo& device) {
    const double now = device.fact("temperature_c"), limit = device.fact("slowdown_c");
    return limit > 0 && now >= limit - 2 ? fmt::format("has {:.0f} degrees, and slows down at {:.0f}", now, limit) : "";
  });
}

void lanes(const Case& one, Result& result) {
  each_gpu(one, result, {"pcie_width", "pcie_width_max"}, [](const DeviceInfo& device) {
    const double now = device.fact("pcie_width"), most = device.fact("pcie_width_max");
    return now > 0 && now < most ? fmt::format("runs on {:.0f} of {:.0f} lanes, says the driver", now, most) : "";
  });
}

void replays(const Case& one, Result& result) {
  each_gpu(one, result, {"pcie_replays"}, [](const DeviceInfo& device) {
    const double count = device.fact("pcie_replays");
    return count >= 100 ? fmt::format("has repeated {:.0f} packets on its link", count) : "";
  });
}

void clock_most(const Case& one, Result& result) {
  const Fact<NvmlAnswer>& nvml = one.facts.nvml;
  if (!result.know_nvml(nvml)) return;
  if (nvml->devices.size() < 2) return result.not_applicable("one GPU");
  std::map<std::string, double> most;  // of each kind
  for (const DeviceInfo& device : nvml->devices)
    most[device.name] = std::max(most[device.name], device.fact("sm_clock_max_hz"));
  each_gpu(one, result, {"sm_clock_max_hz"}, [&](const DeviceInfo& device) {
    return device.fact("sm_clock_max_hz") < most[device.name] * 0.99 ? "has a lower highest clock than its peers" : "";
  });
}

// --- the kernel's log ---

bool know_log(const Case& one, Result& result) {
  const auto& log = one.facts.log;
  if (log) return true;
  result.cannot_know(log.source.empty() ? "the kernel's log" : log.source, log.state);
  return false;
}

void from_log(const Case& one, Result& result, const std::function<bool(const LogFinding&)>& wanted) {
  if (!know_log(one, result)) return;
  bool any = false;
  for (const LogFinding& entry : *one.facts.log) {
    if (!wanted(entry)) continue;
    any = true;
    result.because(one.facts.log.source, shown(entry.line, 160));
    result.found(fmt::format("{}: {} {}: {}", entry.device, entry.kind, entry.code, entry.meaning));
    result.fix("any", entry.action);
  }
  if (!any && !one.facts.log_is_whole)
    result.cannot_know(one.facts.log.source + " does not reach from the kernel's last start up to now");
}

// The words of explain's tables for what must be done.
bool is_serious(const LogFinding& entry) {
  static const std::set<std::string> words = {"escalate", "reset-gpu", "reboot", "replace", "drain", "fix-config"};
  return words.count(entry.severity) > 0;
}

bool is_start(const LogFinding& entry) {
  return entry.kind == "module" || entry.kind == "driver-mismatch" ||
         entry.line.find("RmInitAdapter") != std::string::npos || entry.line.find("probe routine") != std::string::npos;
}

const Registered checks{{
    {.id = "health.xid",
     .layer = Layer::health,
     .title = "the kernel's log has no fault of the card",
     .needs = Needs::gpu,
     .why = "a fault of hardware or driver since the last start; the first one of each device is the cause",
     .run =
         [](const Case& one, Result& result) {
           from_log(one, result,
                    [](const LogFinding& e) { return is_serious(e) && e.layer != "application" && !is_start(e); });
         }},
    {.id = "health.application",
     .layer = Layer::health,
     .title = "the kernel's log has no fault of a program",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "the GPU is sound; a program used memory that isn't its own, or was ended",
     .run =
         [](const Case& one, Result& result) {
           from_log(one, result,
                    [](const LogFinding& e) { return e.layer == "application" || e.severity == "restart-process"; });
         }},
    {.id = "health.init",
     .layer = Layer::health,
     .title = "every GPU was started",
     .needs = Needs::gpu,
     .why = "the driver gave up on it: the codes of RmInitAdapter say at which step",
     .run =
         [](const Case& one, Result& result) {
           from_log(one, result, [](const LogFinding& e) { return is_start(e) && is_serious(e); });
         }},
    {.id = "health.ecc",
     .layer = Layer::health,
     .title = "no memory error was left uncorrected",
     .needs = Needs::gpu,
     .why = "results of that time can't be trusted; the row is replaced at the next reset",
     .fixes = {{"any", "nvidia-smi --gpu-reset when idle; replace the card if it comes back"}},
     .after = {"driver.nvml"},
     .run =
         [](const Case& one, Result& result) {
           simple(one, result, "ecc_uncorrected", "had memory errors that could not be corrected");
         }},
    {.id = "health.remap_failed",
     .layer = Layer::health,
     .title = "no repair of memory failed",
     .needs = Needs::gpu,
     .why = "no spare row was left: the vendor takes such cards back",
     .fixes = {{"any", "replace the card"}},
     .run = [](const Case& one,
               Result& result) { simple(one, result, "remap_failed", "could not replace a bad row of its memory"); }},
    {.id = "health.remap_pending",
     .layer = Layer::health,
     .title = "no repair of memory waits for a reset",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "the bad row is in use until then",
     .fixes = {{"any", "drain, then nvidia-smi --gpu-reset"}},
     .run = [](const Case& one,
               Result& result) { simple(one, result, "remap_pending", "waits for a reset to replace a bad row"); }},
    {.id = "health.retired_pending",
     .layer = Layer::health,
     .title = "no page waits to be retired",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "the bad page is in use until the driver is loaded again",
     .fixes = {{"any", "drain, and reload the driver"}},
     .run = [](const Case& one,
               Result& result) { simple(one, result, "retired_pending", "waits to retire a bad page"); }},
    {.id = "health.ecc_pending",
     .layer = Layer::health,
     .title = "ECC is as it was set",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "the other mode comes with the next reset, and changes memory size and speed",
     .fixes = {{"any", "nvidia-smi --gpu-reset"}},
     .run =
         [](const Case& one, Result& result) {
           differs(one, result, "ecc_on", "ecc_pending", "changes its ECC mode at the next reset");
         }},
    {.id = "health.mig_pending",
     .layer = Layer::health,
     .title = "MIG is as it was set",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "half set: on for some tools, off for others",
     .fixes = {{"any", "stop what uses the GPU, then nvidia-smi --gpu-reset"}},
     .run =
         [](const Case& one, Result& result) {
           differs(one, result, "mig_on", "mig_pending", "changes its MIG mode at the next reset");
         }},
    {.id = "health.mig_empty",
     .layer = Layer::health,
     .title = "a GPU with MIG has instances",
     .needs = Needs::gpu,
     .why = "CUDA finds no device: error 46 or 100",
     .fixes = {{"any", "nvidia-smi mig -cgi PROFILE -C; or nvidia-smi -mig 0"}},
     .run = mig_empty},
    {.id = "health.prohibited",
     .layer = Layer::health,
     .title = "programs may use every GPU",
     .needs = Needs::gpu,
     .why = "all devices are busy or unavailable",
     .fixes = {{"any", "nvidia-smi -c DEFAULT"}},
     .run = compute_mode},
    {.id = "health.exclusive",
     .layer = Layer::health,
     .title = "several programs may use a GPU",
     .severity = Severity::note,
     .needs = Needs::gpu,
     .why = "a second process on it fails with error 46",
     .fixes = {{"any", "nvidia-smi -c DEFAULT, unless a scheduler wants it so"}},
     .run = exclusive},
    {.id = "health.confidential",
     .layer = Layer::health,
     .title = "GPUs in confidential mode accept work",
     .needs = Needs::gpu,
     .why = "CUDA finds no device, or answers error 802, until somebody has attested the GPU and set it ready",
     .fixes = {{"any", "attest the GPU, then nvidia-smi conf-compute -srs 1"}},
     .after = {"driver.nvml"},
     .run = confidential},
    {.id = "health.recovery",
     .layer = Layer::health,
     .title = "no GPU asks for a recovery",
     .needs = Needs::gpu,
     .why = "the driver knows that it can't go on without",
     .fixes = {{"any", "drain the machine, then do what it asks for"}},
     .run = recovery},
    {.id = "health.throttle",
     .layer = Layer::health,
     .title = "no GPU is slowed down by heat or a brake",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "work takes longer until cooling or power supply is mended",
     .fixes = {{"any", "check fans, inlet temperature and power supplies; nvidia-smi -q -d PERFORMANCE"}},
     .run = throttle},
    {.id = "health.hot",
     .layer = Layer::health,
     .title = "no GPU is at its limit of temperature",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "it slows down next",
     .fixes = {{"any", "check cooling"}},
     .run = hot},
    {.id = "health.power_cap",
     .layer = Layer::health,
     .title = "the power limit is the card's own",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "heavy work runs at a lower clock",
     .fixes = {{"any", "nvidia-smi -pl WATTS, unless it was lowered on purpose"}},
     .run = power_cap},
    {.id = "health.lanes",
     .layer = Layer::health,
     .title = "the driver sees all lanes",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "copies between host and GPU lose speed in proportion",
     .fixes = {{"any", "reseat card and riser"}},
     .after = {"bus.link_width"},
     .run = lanes},
    {.id = "health.replays",
     .layer = Layer::health,
     .title = "the link repeats no packets",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "bad signal: slower, and the next step is Xid 79",
     .fixes = {{"any", "reseat card and riser; compare slots"}},
     .run = replays},
    {.id = "health.clocks",
     .layer = Layer::health,
     .title = "GPUs of a kind have the same highest clock",
     .severity = Severity::degraded,
     .needs = Needs::gpu,
     .why = "one was limited, or is another product",
     .fixes = {{"any", "nvidia-smi -rgc; nvidia-smi -rac"}},
     .run = clock_most},
}};

}  // namespace
}  // namespace assay::doctor
