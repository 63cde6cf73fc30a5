// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a machine on which a GPU should work: gathered once, from files and (here) from NVML, never by
// starting a program. Nothing is judged here; checks.h does that, from these facts alone.
// Where to read what: gather_bus.cpp, gather_system.cpp, gather_driver.cpp, gather_libraries.cpp,
// gather_frameworks.cpp; as JSON: facts_json.cpp and results/schema/doctor.v1.json.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/doctor/fact.h"
#include "harness/doctor/root.h"
#include "harness/telemetry/nvml.h"

namespace assay::doctor {

// --- bus ---

struct Bar {
  int index = 0;
  std::uint64_t bytes = 0;
};

struct PciDevice {
  std::string address;                                     // 0000:3b:00.0
  Fact<std::string> vendor, device, subvendor, subdevice;  // "10de"
  Fact<std::string> class_code;                            // "030200"
  Fact<std::string> driver, iommu_group, power_state;      // "nvidia", "27", "D0"
  Fact<int> numa_node;                                     // -1: the firmware doesn't say
  Fact<std::vector<Bar>> bars;                             // of memory, those with a size
  Fact<double> speed_now, speed_max;                       // GT/s of one lane
  Fact<int> width_now, width_max;                          // lanes
  Fact<bool> aspm;                                         // the link may sleep (L1) when idle
  Fact<std::string> config;                                // its first 64 bytes, or all as root
  Fact<std::uint64_t> aer_fatal, aer_nonfatal, aer_correctable;
  Fact<std::vector<std::string>> above;  // addresses of its bridges, from the root port down

  std::string id() const { return vendor.value + ":" + device.value; }
};
// InfiniBand, or a card of Mellanox's.
bool is_rdma(const PciDevice& device);

// --- kernel and its modules ---

struct System {
  Fact<std::string> kernel;  // "6.8.0-45-generic"
  Fact<std::string> command_line;
  Fact<std::string> lockdown;  // none, integrity, confidentiality
  Fact<bool> secure_boot;
  Fact<std::string> distribution, distribution_version;  // ID and VERSION_ID of os-release
  Fact<std::string> distribution_like;                   // ID_LIKE
  Fact<std::string> architecture;                        // "x86_64", "aarch64"
  Fact<std::string> aspm_policy;                         // default, performance, powersave, powersupersave
  Fact<bool> signatures_enforced;                        // of modules, by the kernel itself
  Fact<bool> modules_disabled, selinux_enforcing, numa_balancing;
  Fact<int> numa_nodes;
  Fact<std::string> iommu_type;       // of the GPUs' groups, identity only if it is that of all; absent: no IOMMU
  Fact<std::string> vendor, product;  // of DMI: "Amazon EC2", "p5.48xlarge"
  std::string cloud;                  // aws, azure, gcp, oci, alibaba; "" none or unknown
  bool wsl = false, virtual_machine = false;
};

struct LoadedModule {
  std::string name;
  Fact<std::string> version;
};

struct DiskModule {
  std::string path, name;
  Fact<std::string> version, vermagic, license;  // unreadable where the file is compressed
  bool signed_module = false;
};

struct Modules {
  Fact<std::vector<LoadedModule>> loaded;
  Fact<std::vector<DiskModule>> disk;            // NVIDIA's, for the running kernel
  Fact<std::vector<std::string>> other_kernels;  // that have an NVIDIA module
  Fact<std::vector<std::string>> dkms;           // "nvidia/580.95.05: added", "...: built for 6.8.0-45-generic"
  Fact<std::vector<std::string>> blacklists;     // "nvidia (/etc/modprobe.d/x.conf)"
  Fact<std::vector<std::string>> options;        // "options nvidia NVreg_X=1 (/etc/modprobe.d/x.conf)"
  Fact<bool> headers;                            // of the running kernel
  Fact<std::string> version_text;                // /proc/driver/nvidia/version
  Fact<std::string> version;                     // "580.95.05", of the loaded module
  Fact<std::string> flavour;                     // "open" or "proprietary"
  Fact<std::vector<std::string>> gpus;           // addresses that the driver took
  Fact<std::vector<std::string>> gsp_firmware;   // versions in /lib/firmware/nvidia

  // For the running kernel; nullptr: none.
  const DiskModule* on_disk() const;
  // nullptr: not loaded.
  const LoadedModule* find(const std::string& name) const;
};

struct Node {
  std::string path;
  Status status;
};

struct Nodes {
  Fact<Status> control, uvm, modeset, dxg;
  Fact<std::vector<Node>> gpus;      // /dev/nvidia0, ...
  Fact<std::vector<Node>> switches;  // /dev/nvidia-nvswitch0, ...
  Fact<std::vector<std::string>> capabilities, imex_channels;
};

// --- libraries ---

struct Library {
  std::string path, real, name;  // as found, without links, up to ".so"
  std::string version;           // of the name of the file; "" where that doesn't say
  std::string from;              // cache, LD_LIBRARY_PATH, default, toolkit, wheel, conda, driver
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::string machine;  // "x86_64", "aarch64", "i386", ...
  bool stub = false, compat = false;
  // Place in the order in which the loader would take one of this name; -1: it would not look there.
  int order = -1;
};

struct Toolkit {
  std::string folder, version;  // "13.0.2", "13.0"; "" where nothing says it
  bool compiler = false;
};

struct Libraries {
  Fact<std::vector<Library>> all;  // not known where a folder that the loader searches isn't
  Fact<bool> elsewhere;            // could all other folders be looked into?
  Fact<std::vector<Toolkit>> toolkits;
  Fact<std::vector<std::string>> cache_folders;
  std::vector<std::string> search_missing;  // folders of LD_LIBRARY_PATH that aren't there
  bool search_current_folder = false;       // an empty part of LD_LIBRARY_PATH

  // Those of that name, in the order of the loader, then those it would not find.
  std::vector<const Library*> named(const std::string& name) const;
  // The one that a program gets; nullptr: none.
  const Library* first(const std::string& name) const;
};

struct Torch {
  std::string folder;   // of site-packages, or of libtorch
  std::string version;  // "2.11.0+cu130"
  std::string cuda;     // "13.0"; "" a build for the CPU
  std::string hip;
  std::string from;  // pip, conda, libtorch
  bool cuda_library = false;
};

struct Wheel {
  std::string folder, name, version;  // nvidia_nccl_cu12 2.27.3
};

struct Frameworks {
  Fact<std::vector<Torch>> torch;
  Fact<std::vector<Wheel>> wheels;
  std::vector<std::string> conda_and_pip;  // folders in which both installed torch
};

// --- surroundings ---

struct Container {
  Fact<std::string> kind;                        // docker, podman, kubernetes, apptainer, lxc, ...; absent: none
  Fact<std::vector<std::string>> driver_mounts;  // libraries and nodes that a hook mounted
  Fact<std::vector<std::string>> device_rules;   // of a version 1 control group: "c 195:* rw"
  Fact<std::uint64_t> shm_bytes;
  Fact<std::uint64_t> memlock_bytes;  // of this process; ~0: no limit
};

struct Process {
  std::string name;
  std::string id;
};

struct Cluster {
  Fact<std::vector<Process>> processes;               // daemons of NVIDIA's that run
  Fact<std::map<std::string, std::string>> packages;  // of dpkg: NVIDIA's and CUDA's, with their versions
  Fact<std::string> imex_nodes, slurm_gres, vgpu_configuration;
  Fact<bool> clock_synchronised;
  Fact<double> clock_s;  // since 1970

  bool runs(const std::string& process) const;
};

struct LogFinding {
  std::string device, kind, code, layer, severity, action, meaning, line;
};

constexpr const char* no_code =
    "no_code";  // an outcome: the worker has no machine code for a device, so nothing was tried

// What a worker tried on the devices, each in a process of its own: a link of the chain that no file can show.
struct ProbeResult {
  std::string name;          // init, context, allocation, kernel, synchronise, product_bf16, tensor, nccl
  std::string outcome;       // ok, failed, late, crashed, no_code; not_run: one before it was not ok
  std::string worker;        // cuda13
  std::string call, detail;  // "cudaMalloc" and its number, where a call failed; what the worker said
  int code = 0;
  bool simulated = false;  // no GPU was tried
};

struct Facts {
  Fact<std::vector<std::string>> bus;  // every address
  std::vector<PciDevice> gpus, switches, displays, nics, bridges;
  std::vector<std::string> hidden;  // addresses of which nobody can say what they are
  Fact<bool> rdma;                  // a network card that reaches memory by itself
  System system;
  Modules modules;
  Nodes nodes;
  Fact<NvmlAnswer> nvml;
  Libraries libraries;
  Frameworks frameworks;
  Container container;
  Cluster cluster;
  Fact<Environment> environment;           // allowed names only
  Fact<std::vector<LogFinding>> log;       // what assay explain says of the kernel's log, since its last start
  bool log_is_whole = false;               // from its start up to now: what is not in it did not happen
  std::vector<std::string> silent_mounts;  // that did not answer
  Fact<std::vector<ProbeResult>> probes;   // absent: there is no worker that could try

  // Of the module, or what NVML says where the module can't be seen; "" neither.
  std::string driver_version() const { return modules.version ? *modules.version : nvml ? nvml->driver : ""; }
  // Above a GPU; nullptr: it isn't seen.
  const PciDevice* bridge(const std::string& address) const;
  // A GPU that programs could use: on the bus, or behind WSL's.
  bool has_gpu() const { return !gpus.empty() || (system.wsl && nodes.dxg); }
};

// `variables`: names that may be kept of the environment. `nvml_library`: "" doesn't ask NVML.
struct GatherOptions {
  std::vector<std::string> variables;
  std::string nvml_library = "libnvidia-ml.so.1";
  double nvml_patience_s = 30;
  std::filesystem::path rules;                            // of assay explain; "" leaves the kernel's log alone
  std::function<Fact<std::vector<ProbeResult>>()> probe;  // asked on this machine, where a GPU is there; may be empty
  bool probe_without_gpu = false;
};
Facts gather(const Root& root, const GatherOptions& options);

// The parts, in this order.
void gather_bus(const Root& root, Facts& facts);
void gather_system(const Root& root, Facts& facts);
void gather_driver(const Root& root, const GatherOptions& options, Facts& facts);
void gather_libraries(const Root& root, Facts& facts);
void gather_frameworks(const Root& root, Facts& facts);
void gather_surroundings(const Root& root, Facts& facts);
void gather_probes(const Root& root, const GatherOptions& options, Facts& facts);
void gather_log(const Root& root, const std::filesystem::path& rules, Facts& facts);

Json to_json(const Facts& facts);

}  // namespace assay::doctor
