// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// May the kernel module be loaded, and with which options? Trap: that it bears a signature does not say that the kernel
// trusts who signed it; only a loaded module was accepted.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

void secure_boot(const Case& one, Result& result) {
  const Facts& facts = one.facts;
  if (facts.modules.version || facts.modules.find("nvidia") != nullptr) return;  // it was accepted
  for (const LogFinding& entry : facts.log.value)
    for (const char* text :
         {"module with unavailable key is rejected", "unsigned module is rejected",
          "unsigned module loading is restricted", "Key was rejected by service", "Required key not available"})
      if (entry.line.find(text) != std::string::npos) {
        result.because(facts.log.source, entry.line);
        return result.found("the kernel refused a module: its signature is not known here");
      }
  if (in_container(one)) return result.not_applicable("a container uses the host's module, which isn't loaded");
  // Each of the three alone makes the kernel ask for a signature that it knows.
  const System& system = facts.system;
  const bool locked = system.lockdown && *system.lockdown != "none";
  if (!*system.secure_boot && !*system.signatures_enforced && !locked) {
    result.know(system.secure_boot);
    result.know(system.signatures_enforced);
    result.know(system.lockdown);
    return;
  }
  if (!result.know(facts.modules.disk)) return;
  const DiskModule* disk = facts.modules.on_disk();
  if (disk == nullptr) return result.not_applicable("no module on disk");
  if (!disk->license) return result.cannot_know(disk->path, Known::unreadable);  // compressed
  // Which keys the kernel trusts is known to the kernel: only a module that is loaded was accepted.
  if (disk->signed_module)
    return result.cannot_know("whether the kernel trusts the key that signed " + disk->path, Known::absent);
  result.because(disk->path, "no signature");
  if (*system.secure_boot) {
    result.because(system.secure_boot);
    result.found("Secure Boot is on and the module is not signed");
  } else {
    result.because(locked ? system.lockdown.source : system.signatures_enforced.source,
                   locked ? *system.lockdown : "yes");
    result.found("the kernel loads signed modules only, and this one is not signed");
  }
}

void blacklist(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (in_container(one)) return result.not_applicable("a container uses the host's module");
  if (!result.know(modules.blacklists) || !result.have(one.facts.system.command_line)) return;
  // "modprobe.blacklist=nouveau,nvidia", also rd.driver.blacklist= and module_blacklist=
  for (const std::string& word : split(*one.facts.system.command_line, ' ')) {
    const std::size_t equals = word.find("blacklist=");
    if (equals == std::string::npos) continue;
    for (const std::string& name : split(word.substr(equals + 10), ','))
      if (name == "nvidia" || name == "nvidia_uvm") {
        result.because(one.facts.system.command_line.source, word);
        result.found(modules.version ? Severity::note : Severity::broken,
                     "the kernel's command line keeps the module from loading: " + word);
      }
  }
  for (const std::string& row : *modules.blacklists) {
    if (!starts_with(row, "nvidia ") && !starts_with(row, "nvidia_uvm ") && !starts_with(row, "nvidia-uvm ")) continue;
    result.because(modules.blacklists.source, row);
    result.found(modules.version ? Severity::note : Severity::broken,
                 "a configuration file keeps the module from loading: " + row);
  }
}

void disabled(const Case& one, Result& result) {
  const System& system = one.facts.system;
  if (one.facts.modules.version || one.facts.modules.find("nvidia") != nullptr) return;
  if (!result.have(system.modules_disabled) || !*system.modules_disabled) return;
  result.because(system.modules_disabled);
  result.found("the kernel loads no more modules until the next start");
}

void gsp_parameter(const Case& one, Result& result) {
  const Modules& modules = one.facts.modules;
  if (!result.know(modules.flavour)) return;
  if (!modules.flavour) return result.not_applicable("no module is loaded");
  if (!result.have(one.facts.system.command_line) || !result.know(modules.options)) return;
  const std::string off = "NVreg_EnableGpuFirmware=0";
  std::vector<std::string> places = *modules.options;
  places.push_back(*one.facts.system.command_line);
  const auto place = std::find_if(places.begin(), places.end(),
                                  [&](const std::string& text) { return text.find(off) != std::string::npos; });
  if (place == places.end() || *modules.flavour != "open") return;
  result.because("options of the module", shown(*place));
  result.found("GSP firmware is switched off for a module that can't do without");
}

const Registered checks{{
    {.id = "module.blacklisted",
     .layer = Layer::module,
     .title = "no file forbids to load nvidia",
     .why = "prime-select intel and some installers leave such files behind",
     .fixes = {{"any", "remove the line, rebuild the initial RAM disk, restart"},
               {"debian", "prime-select nvidia (Ubuntu)"}},
     .run = blacklist},
    {.id = "module.disabled",
     .layer = Layer::module,
     .title = "the kernel may load modules",
     .why = "kernel.modules_disabled=1 can't be taken back",
     .fixes = {{"any", "load nvidia before it is set, and restart"}},
     .run = disabled},
    {.id = "module.secure_boot",
     .layer = Layer::module,
     .title = "Secure Boot accepts the module",
     .why = "modprobe says 'Key was rejected by service' or 'Operation not permitted'",
     .fixes = {{"debian",
                "mokutil --import /var/lib/dkms/mok.pub (Ubuntu: /var/lib/shim-signed/mok/MOK.der); restart and enrol"},
               {"any", "or use a module that the distribution signed, or switch Secure Boot off in the firmware"}},
     .run = secure_boot},
    {.id = "module.gsp_parameter",
     .layer = Layer::module,
     .title = "GSP firmware isn't switched off for the open module",
     .why = "the open module only works with it",
     .fixes = {{"any", "remove NVreg_EnableGpuFirmware=0"}},
     .run = gsp_parameter},
}};

}  // namespace
}  // namespace assay::doctor
