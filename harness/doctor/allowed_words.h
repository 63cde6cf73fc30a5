// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The words that may leave a machine, see allowed_text.h: a word that is missing here only makes a bundle harder to
// read. None may be one that somebody would call a machine, a user or a project alone.
#pragma once

namespace assay::doctor {

inline constexpr const char* allowed_words =
    // kernel drivers and modules
    "nvidia nvidia_uvm nvidia_drm nvidia_modeset nvidia_peermem nv_peer_mem nouveau nova_core nova-core NovaCore "
    "nvidiafb "
    "nvidia_vgpu_vfio vfio_pci vfio-pci pci-stub xen-pciback gdrdrv nvidia_fs nvidia-nvswitch pcieport mlx4_core "
    "mlx5_core "
    "i915 xe amdgpu radeon ast mgag200 igb igc e1000e ixgbe i40e ice bnxt_en virtio-pci hyperv_drm nvidia-uvm "
    "nvidia-drm "
    "nvidia-modeset nvidia-peermem pcspkr efa ena gve "
    // kernels, distributions, processors
    "generic amd64 arm64 x86_64 aarch64 i386 ppc64le cloud aws azure gcp gke oracle oci alibaba kvm lowlatency 64k 16k "
    "4k rt "
    "microsoft standard default linux lts hardened zen pve server desktop tegra cpu SMP preempt PREEMPT "
    "PREEMPT_DYNAMIC "
    "preempt_dynamic mod_unload modversions debian ubuntu rhel centos fedora rocky almalinux ol amzn sles "
    "opensuse-leap "
    "opensuse suse arch gentoo nixos alpine flatcar cos azurelinux mariner linuxmint pop raspbian "
    // states
    "performance powersave powersupersave none integrity confidentiality open proprietary unknown DMA DMA-FQ identity "
    "blocked unmanaged cuda simt fake "
    "added built not for cache default toolkit wheel conda pip libtorch driver GPL MIT BSD NVIDIA Dual v2 "
    "docker podman kubernetes apptainer lxc containerd oci lxc-libvirt systemd-nspawn wsl "
    // sources
    "environment NVML adjtimex clock site-packages loader mount table LD_LIBRARY_PATH LD_PRELOAD no access to this "
    "device "
    // what NVML answers
    "CUDA version nvmlInit cannot open shared object file No such or directory Driver/library Driver library mismatch "
    "Not "
    "Found "
    "starts and can't count the devices: this build was made without nvml.h "
    "Unknown Error Uninitialized Insufficient Permissions GPU is lost Loaded Timeout Operation Supported nvmlInit_v2 "
    // values of variables
    "true True TRUE false False FALSE yes no on off all void compute utility graphics video display ngx compat32 INIT "
    "NET "
    "GRAPH COLL ENV ALL VERSION WARN Ring Tree CollnetDirect CollnetChain NVLS NVLSTree LL LL128 Simple SYS PIX PXB "
    "PHB "
    "expandable_segments max_split_size_mb garbage_collection_threshold native LAZY PCI_BUS_ID FASTEST_FIRST OFF "
    // makers and machines
    "Supermicro Dell Inc. HPE HP Hewlett Packard Enterprise Lenovo QEMU VMware, VMware Microsoft Corporation Amazon "
    "EC2 "
    "Google Alibaba Cloud ASUSTeK COMPUTER INC. Gigabyte GIGABYTE Technology Xen innotek GmbH Virtual Machine Engine "
    "Compute "
    "Standard PC Q35 i440FX PIIX DGX DGXH100 HGX Platform "
    // probes
    "init context allocation kernel synchronise product_bf16 tensor nccl ok failed late crashed no_code not_run cuda12 "
    "cuda13 "
    "cudaGetDeviceCount cudaSetDevice cudaFree cudaMalloc cudaMemset cudaMemcpy cudaDeviceSynchronize cudaGetLastError "
    "cudaDeviceGetAttribute "
    // daemons
    "nv-fabricmanager nv-fabricmanage nvidia-fabricmanager nvidia-persistenced nvidia-persiste nvidia-imex "
    "nvidia-gridd nv-hostengine "
    "nvidia-cuda-mps-control nvidia-cuda-mps nvidia-cuda-mps-server nvidia-powerd nvidia-topologyd nvidia-fabricma "
    "nvidia-topolog slurmd kubelet nvtop nvidia-smi ";

// Folders and files of a path. What lies directly below /home, /mnt and the like is never among them.
inline constexpr const char* allowed_components =
    "env sh ls nvidia_uvm nvidia_drm nvidia_modeset nvidia_peermem nouveau usr lib lib32 lib64 opt etc dev proc sys "
    "var run bin sbin boot root tmp local share include src self fs "
    "home mnt media data scratch srv nfs Users "
    "bus pci devices class kernel module modules drivers security firmware efi efivars block dmi id net system node "
    "vendor device subsystem_vendor subsystem_device driver iommu_group iommu_groups power_state numa_node resource "
    "config "
    "current_link_speed max_link_speed current_link_width max_link_width aer_dev_fatal aer_dev_nonfatal "
    "aer_dev_correctable "
    "type version lockdown osrelease cmdline comm cgroup limits mountinfo modules_disabled numa_balancing sys_vendor "
    "product_name selinux enforce nvidia gpus information cpu cpulist shm kmsg nvidiactl nvidia-uvm nvidia-modeset dxg "
    "nvidia-caps nvidia-caps-imex-channels nvidia-caps-imex nvidia-nvswitchctl log kern.log dmesg dpkg status dkms "
    "modprobe.d blacklist.conf nvidia.conf nouveau.conf blacklist-nouveau.conf nvidia-installer-disable-nouveau.conf "
    "updates extra misc extramodules weak-updates video build source ld.so.cache ld.so.conf.d os-release slurm "
    "gres.conf "
    "nvidia-imex nodes_config.cfg gridd.conf devices.list .dockerenv .containerenv .singularity.d limits "
    "cuda compat stubs targets nvvm nvcc hpc_sdk math_libs cuda-toolkit nvidia-cuda-toolkit nvidia-current current wsl "
    "conda miniconda3 anaconda3 miniforge3 envs venv .venv .local libtorch torch site-packages dist-packages "
    "conda-meta "
    "cublas cuda_runtime cuda_nvrtc cuda_cupti cudnn cufft cufile curand cusolver cusparse cusparselt nccl nvjitlink "
    "nvshmem nvtx cu12 cu13 mps nvidia-mps pci0000:00 SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c "
    "nvidia* nvidia-nvswitch* cuda* * ";

// Of the kernel's command line: parameters that decide about GPUs, and their modules' own.
inline constexpr const char* allowed_parameters =
    "iommu intel_iommu amd_iommu iommu.passthrough pci pcie_aspm pcie_port_pm nomodeset nouveau.modeset "
    "nouveau.blacklist "
    "modprobe.blacklist rd.driver.blacklist module_blacklist vfio-pci.ids lockdown module.sig_enforce "
    "nvidia-drm.modeset "
    "nvidia_drm.modeset nvidia.NVreg_EnableGpuFirmware NVreg_EnableGpuFirmware "
    "nvidia.NVreg_OpenRmEnableUnsupportedGpus "
    "nvidia.NVreg_EnableResizableBar nvidia.NVreg_DeviceFileMode mitigations numa_balancing enforcing selinux "
    "systemd.unified_cgroup_hierarchy transparent_hugepage ro rw quiet splash";
inline constexpr const char* allowed_parameter_values =
    "pt on off force soft strict passthrough noats realloc nocrs noaer nouveau nvidia nova_core none integrity 0 1 2 "
    "confidentiality auto always madvise never 0666 0660";

inline constexpr const char* allowed_package_words =
    "nvidia cuda libnccl libnccl2 libcudnn libcudnn8 libcudnn9 fabricmanager driver drivers open kernel dkms utils "
    "compute dev "
    "devel server headless no source common extra gl decode encode fbc1 cfg1 toolkit container libnvidia tools base "
    "settings "
    "persistenced imex prime modprobe firmware gsp gpucomp nscq headers libraries runtime demo suite documentation "
    "compiler "
    "nvcc cudart nvrtc nvtx cupti gdb memcheck sanitizer samples keyring compat minimal build command line visual "
    "libcublas libcufft libcurand libcusolver libcusparse libnpp libnvjpeg libnvjitlink libcuda1 libcuda libnvcuvid1 "
    "smi "
    "cublas cuda_runtime cudnn cufft cufile curand cusolver cusparse cusparselt nccl nvjitlink nvshmem npp nvjpeg cu11 "
    "cu12 "
    "cu13 runtime all amd64 arm64 i386 rm vgpu gdrcopy peermem fs gds";

// What NVML tells of a device as numbers: harness/telemetry/nvml.h. A test holds the list against what it tells.
inline constexpr const char* nvml_names =
    "memory_bytes available_bytes power_limit_w power_limit_default_w sm_clock_max_hz memory_clock_max_hz "
    "compute_capability ecc_on ecc_pending ecc_uncorrected remapped_correctable remapped_uncorrectable remap_pending "
    "remap_failed retired_pending persistence_on mig_on mig_pending mig_instances compute_mode throttle_bits "
    "temperature_c "
    "slowdown_c pcie_generation pcie_generation_max pcie_width pcie_width_max pcie_replays fabric_state fabric_status "
    "recovery_action confidential_on confidential_ready";

// Words in lines of the kernel's log that checks look for.
inline constexpr const char* log_markers[] = {"RmInitAdapter",
                                              "probe routine",
                                              "fallen off the bus",
                                              "module with unavailable key is rejected",
                                              "unsigned module is rejected",
                                              "unsigned module loading is restricted",
                                              "Key was rejected by service",
                                              "Required key not available"};

}  // namespace assay::doctor
