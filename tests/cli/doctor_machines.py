# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""Whole machines as folders, made from nothing: sysfs with configuration bytes, ELF files with only what is read of them, the
loader's cache, and what a folder can't hold in .assay/ (see harness/doctor/root.h). `MACHINES` are those that
test_doctor_machines knows; `server()` is a sound one from which test_doctor_checks makes one thing wrong at a time.

Traps: ids, versions and texts are real ones, the files are not: an ELF file here is a header and, for a kernel module, its
.modinfo. Nothing below is secret: names and addresses are made up."""
import json
import struct
from pathlib import Path

KERNEL = "6.8.0-45-generic"
DRIVER = "580.95.05"
H100, H100_BOARD = "2330", "16c1"
X86, ARM = 62, 183
LIB = "usr/lib/x86_64-linux-gnu"
SITE = "opt/venv/lib/python3.11/site-packages"
OPEN_TEXT = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (dvs-builder@U16)\nGCC version:  gcc 13\n"
CLOSED_TEXT = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri Jul 5 11:00:00 UTC 2024\nGCC version:  gcc 13\n"


def elf(machine=X86, modinfo=None, signed=False):
    """A 64-bit ELF file: a header; with `modinfo` also that section."""
    header = lambda shoff, count, names: (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(  # noqa: E731
        "<HHIQQQIHHHHHH", 3 if modinfo is None else 1, machine, 1, 0, 0, shoff, 0, 64, 56, 0, 64, count, names))
    if modinfo is None:
        return header(0, 0, 0)
    text = b"".join(f"{key}={value}".encode() + b"\0" for key, value in modinfo.items())
    names = b"\0.modinfo\0.shstrtab\0"
    section = lambda name, kind, offset, size: struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)  # noqa: E731
    body = 64 + len(text) + len(names)
    table = section(0, 0, 0, 0) + section(1, 1, 64, len(text)) + section(10, 3, 64 + len(text), len(names))
    return header(body, 3, 2) + text + names + table + (b"\0" * 16 + b"~Module signature appended~\n" if signed else b"")


def loader_cache(paths, old_form=True):
    """/etc/ld.so.cache of these libraries: the newer form, behind an empty one of the old where wanted."""
    entries = [(Path(path).name, "/" + path) for path in paths]
    base = 48 + 24 * len(entries)
    strings, rows = b"", b""
    for name, path in entries:
        key = base + len(strings)
        strings += name.encode() + b"\0"
        value = base + len(strings)
        strings += path.encode() + b"\0"
        rows += struct.pack("<iIIIQ", 0x0303, key, value, 0, 0)
    new = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings)) + bytes(20) + rows + strings
    return (b"ld.so-1.7.0\0" + struct.pack("<I", 0) + new) if old_form else new


class Machine:
    def __init__(self, kernel=KERNEL, machine=X86, distribution="ubuntu", version="24.04", like="debian"):
        self.files, self.links, self.nodes, self.states = {}, {}, {}, []
        self.env = {"PATH": "/usr/bin"}
        self.cache, self.machine, self.kernel = [], machine, kernel
        self.mounts = ["22 1 8:1 / / rw - ext4 /dev/sda1 rw", "23 22 0:5 / /proc rw - proc proc rw",
                       "24 22 0:6 / /dev/shm rw - tmpfs tmpfs rw,size=65536000k"]
        self.nvml = self.probes = None
        self.addresses = []
        f = self.files
        f["proc/sys/kernel/osrelease"] = kernel
        f["proc/cmdline"] = "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro"
        f["proc/modules"] = "ext4 1 0 - Live 0x0\n"
        f["proc/1/cgroup"] = "0::/init.scope"
        f["proc/1/comm"] = "systemd"
        f["proc/self/limits"] = "Limit  Soft  Hard  Units\nMax locked memory         unlimited            unlimited            bytes\n"
        f["proc/sys/kernel/modules_disabled"] = "0"
        f["proc/sys/kernel/numa_balancing"] = "0"
        f["etc/os-release"] = f'ID={distribution}\nVERSION_ID="{version}"\nID_LIKE={like}\n'
        f["sys/class/dmi/id/sys_vendor"] = "Supermicro"
        f["sys/class/dmi/id/product_name"] = "SYS-821GE"
        f["usr/bin/env"] = elf(machine)
        f["dev/kmsg"] = "6,1,1,-;Linux version " + kernel + "\n"
        f["sys/kernel/security/lockdown"] = "[none] integrity confidentiality"
        f["etc/modprobe.d/blacklist.conf"] = "blacklist pcspkr\n"
        f["var/lib/dpkg/status"] = "Package: bash\nStatus: install ok installed\nVersion: 5.2\n"
        f["sys/devices/system/node/node0/cpulist"] = "0-1"
        f[f"lib/modules/{kernel}/build/Makefile"] = ""
        f["var/lib/dkms/mok.pub"] = ""
        f["usr/local/share/x"] = ""
        f["sys/bus/pci/devices/.keep"] = ""
        self.clock = {"synchronised": True, "seconds": 1790000000}

    # --- parts ---
    def add(self, address, vendor, device, cls, sub=("10de", "0000"), driver=None, above=(), bars=((0, 16 << 20),), width=16,
            width_max=16, speed="32.0 GT/s PCIe", speed_max="32.0 GT/s PCIe", numa=0, group=None, config=None, power="D0"):
        real = f"sys/devices/pci{(above[0] if above else address)[:7]}/" + "/".join([*above, address])
        self.links[f"sys/bus/pci/devices/{address}"] = "/" + real
        f = self.files
        f[f"{real}/vendor"], f[f"{real}/device"] = f"0x{vendor}", f"0x{device}"
        f[f"{real}/class"] = f"0x{cls}"
        f[f"{real}/subsystem_vendor"], f[f"{real}/subsystem_device"] = f"0x{sub[0]}", f"0x{sub[1]}"
        f[f"{real}/numa_node"], f[f"{real}/power_state"] = str(numa), power
        f[f"{real}/current_link_speed"], f[f"{real}/max_link_speed"] = speed, speed_max
        f[f"{real}/current_link_width"], f[f"{real}/max_link_width"] = str(width), str(width_max)
        rows = {index: f"0x{(index + 1) << 40:016x} 0x{((index + 1) << 40) + size - 1:016x} 0x0000000000140204" for index, size in bars}
        rows |= {index: f"0x{0:016x} 0x{0:016x} 0x0000000000140204" for index, size in bars if size == 0}
        f[f"{real}/resource"] = "".join(rows.get(i, "0x0000000000000000 0x0000000000000000 0x0000000000000000") + "\n" for i in range(7))
        f[f"{real}/link/l1_aspm"] = "0"
        f[f"{real}/config"] = config if config is not None else bytes.fromhex(vendor)[::-1] + bytes.fromhex(device)[::-1] + bytes(4092)
        for kind, total in (("fatal", "FATAL"), ("nonfatal", "NONFATAL"), ("correctable", "COR")):
            f[f"{real}/aer_dev_{kind}"] = f"Undefined 0\nTOTAL_ERR_{total} 0\n"
        if driver:
            self.links[f"{real}/driver"] = f"/sys/bus/pci/drivers/{driver}"
        if group is not None:
            self.links[f"{real}/iommu_group"] = f"/sys/kernel/iommu_groups/{group}"
            f[f"sys/kernel/iommu_groups/{group}/type"] = "identity"
        return real

    def gpu(self, address, device=H100, cls="030200", sub=("10de", H100_BOARD), driver="nvidia", memory=128 << 30, **more):
        self.addresses.append(address)
        return self.add(address, "10de", device, cls, sub, driver, bars=((0, 16 << 20), (2, memory), (4, 32 << 20)), **more)

    def library(self, path, version, soname=1, cached=True, machine=None):
        """LIB.so.<soname> as a link to LIB.so.<version>."""
        name = Path(path).name
        self.files[f"{path}.so.{version}"] = elf(machine or self.machine)
        if str(version) != str(soname):
            self.links[f"{path}.so.{soname}"] = f"{name}.so.{version}"
        if cached:
            self.cache.append(f"{path}.so.{soname}")

    def driver(self, version=DRIVER, flavour="open", disk=None, libraries=None, dkms=True, gpus=None):
        f = self.files
        f["proc/driver/nvidia/version"] = (OPEN_TEXT if flavour == "open" else CLOSED_TEXT).format(version)
        f["proc/modules"] += "".join(f"{m} 1 0 - Live 0x0\n" for m in ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"))
        f["sys/module/nvidia/version"] = version
        for i, address in enumerate(self.addresses if gpus is None else gpus):
            f[f"proc/driver/nvidia/gpus/{address}/information"] = "Model: x\n"
        self.device_nodes(len(self.addresses))
        f[f"lib/firmware/nvidia/{version}/gsp_ga10x.bin"] = ""
        self.disk_module(disk or version, flavour)
        if dkms:
            f[f"var/lib/dkms/nvidia/{disk or version}/{self.kernel}/x86_64/log/make.log"] = ""
        self.user_space(libraries or version)

    def disk_module(self, version, flavour="open", kernel=None, signed=True):
        info = {"version": version, "license": "Dual MIT/GPL" if flavour == "open" else "NVIDIA",
                "vermagic": f"{kernel or self.kernel} SMP preempt mod_unload modversions "}
        self.files[f"lib/modules/{self.kernel}/updates/dkms/nvidia.ko"] = elf(self.machine, info, signed)

    def device_nodes(self, count):
        self.nodes |= {"dev/nvidiactl": (195, 255), "dev/nvidia-uvm": (510, 0), "dev/nvidia-modeset": (195, 254)}
        self.nodes |= {f"dev/nvidia{i}": (195, i) for i in range(count)}

    def user_space(self, version):
        lib = LIB if self.machine == X86 else "usr/lib/aarch64-linux-gnu"
        for name in ("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler"):
            self.library(f"{lib}/{name}", version)

    def toolkit(self, version="13.0.2", folder=None, compiler=True, cached=True):
        folder = folder or f"usr/local/cuda-{'.'.join(version.split('.')[:2])}"
        self.files[f"{folder}/version.json"] = json.dumps({"cuda": {"name": "CUDA SDK", "version": version}})
        if compiler:
            self.files[f"{folder}/bin/nvcc"] = elf(self.machine)
        self.library(f"{folder}/lib64/libcudart", version, version.split(".")[0], cached)
        self.library(f"{folder}/lib64/libcublas", version, version.split(".")[0], cached)
        self.files[f"{folder}/lib64/stubs/libcuda.so"] = elf(self.machine)

    def torch(self, version="2.11.0+cu130", cuda="13.0", site=SITE, companions=True, library=True):
        f = self.files
        f[f"{site}/torch/version.py"] = f"__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = None\n"
        f[f"{site}/torch-{version}.dist-info/INSTALLER"] = "pip\n"
        if library and cuda:
            f[f"{site}/torch/lib/libtorch_cuda.so"] = elf(self.machine)
        if companions and cuda:
            for name, number in (("nvidia_cublas", "13.1.0.3"), ("nvidia_nccl_cu13", "2.28.9"), ("nvidia_cudnn_cu13", "9.19.0.56")):
                f[f"{site}/{name}-{number}.dist-info/METADATA"] = ""
        self.env["VIRTUAL_ENV"] = "/" + site.split("/lib/python")[0]

    def ask_nvml(self, count=None, driver=DRIVER, cuda="13.0", name="NVIDIA H100 80GB HBM3", **facts):
        usual = {"memory_bytes": 85e9, "power_limit_w": 700, "power_limit_default_w": 700, "sm_clock_max_hz": 1.98e9,
                 "compute_capability": 9.0, "ecc_on": 1, "ecc_pending": 1, "ecc_uncorrected": 0, "remapped_correctable": 0,
                 "remapped_uncorrectable": 0, "remap_pending": 0, "remap_failed": 0, "retired_pending": 0, "persistence_on": 1,
                 "mig_on": 0, "mig_pending": 0, "mig_instances": 0, "compute_mode": 0, "throttle_bits": 1, "temperature_c": 40,
                 "slowdown_c": 90, "pcie_generation": 5, "pcie_generation_max": 5, "pcie_width": 16, "pcie_width_max": 16,
                 "pcie_replays": 0, "fabric_state": 3, "fabric_status": 0, "recovery_action": 0,
                 "confidential_on": 0}
        addresses = self.addresses[:count]
        self.nvml = {"loaded": True, "code": 0, "detail": f"driver {driver}, CUDA {cuda}", "driver": driver, "cuda": cuda, "devices": [
            {"id": "", "kind": "cuda", "name": name, "simulated": False, "pci_address": a, "uuid": f"GPU-{i}",
             "facts": usual | facts, "labels": {}} for i, a in enumerate(addresses)]}

    def tries(self, worker="cuda13", simulated=False, **outcomes):
        """What a worker met: all is well, except NAME=(outcome, call, number)."""
        usual = {name: ("ok", "", 0) for name in ("init", "context", "allocation", "kernel", "synchronise", "product_bf16", "tensor", "nccl")}
        self.probes = [{"name": name, "outcome": outcome, "worker": worker, "call": call, "detail": f"{call} {code}", "code": code,
                        "simulated": simulated} for name, (outcome, call, code) in (usual | outcomes).items()]

    def nvml_fails(self, code, detail):
        self.nvml = {"loaded": False, "code": code, "detail": "no NVML: " + detail, "driver": "", "cuda": "", "devices": []}

    def processes(self, *names):
        for i, name in enumerate(names):
            self.files[f"proc/{1000 + i}/comm"] = name[:15]

    def package(self, name, version):
        self.files["var/lib/dpkg/status"] += f"\nPackage: {name}\nStatus: install ok installed\nVersion: {version}\n"

    def log(self, *lines):
        self.files["dev/kmsg"] += "".join(f"4,{i + 9},{i + 9000000},-;{line}\n" for i, line in enumerate(lines))

    def container(self, kind="docker"):
        self.files[".dockerenv" if kind == "docker" else "run/.containerenv"] = ""
        self.files["proc/1/cgroup"] = "0::/"

    # --- on disk ---
    def contents(self):
        """What the folder holds: text or bytes of a file, or a Path where a link leads."""
        files = dict(self.files)
        files["proc/self/mountinfo"] = "\n".join(self.mounts) + "\n"
        files.setdefault("etc/ld.so.cache", loader_cache(self.cache))
        files[".assay/nodes"] = "".join(f"{path} {n[0]} {n[1]} {n[2] if len(n) > 2 else '0666'} 0 0\n" for path, n in self.nodes.items())
        files[".assay/states"] = "\n".join(self.states) + "\n"
        files[".assay/clock.json"] = json.dumps(self.clock)
        if self.probes is not None:
            files[".assay/probes.json"] = json.dumps(self.probes)
        if self.nvml is not None:
            files[".assay/nvml.json"] = json.dumps(self.nvml)
        return files | {path: Path(to) for path, to in self.links.items()}

    def write(self, folder):
        """Into a new folder; returns it and the file of its environment."""
        folder = Path(folder)
        Folder(folder).become(self)
        env = folder.parent / (folder.name + ".env")
        env.write_text("".join(f"{key}={value}\n" for key, value in self.env.items()))
        return folder, env


class Folder:
    """A machine on disk that becomes another one: only what differs is written."""

    def __init__(self, path):
        self.path, self.now = Path(path), {}

    def become(self, machine):
        wanted = machine.contents()
        for path in [p for p, content in self.now.items() if wanted.get(p) != content]:
            target = self.path / path
            target.unlink()
            for parent in target.parents:
                if parent == self.path or any(parent.iterdir()):
                    break
                parent.rmdir()
            del self.now[path]
        for path, content in wanted.items():
            if path in self.now:
                continue
            target = self.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                target.symlink_to(content)
            else:
                target.write_bytes(content if isinstance(content, bytes) else content.encode())
            self.now[path] = content
        return self.path


def server(gpus=8):
    """A sound HGX H100: NVSwitches, InfiniBand, toolkit, torch, fabric manager."""
    m = Machine()
    m.files["sys/devices/system/node/node1/cpulist"] = "2-3"
    for i in range(gpus):
        bus = 0x18 + 0x10 * i
        port = f"0000:{bus - 1:02x}:01.0"
        node = 0 if i < gpus / 2 else 1
        m.add(port, "1000", "c030", "060400", driver="pcieport", numa=node)
        m.gpu(f"0000:{bus:02x}:00.0", above=(port,), numa=node, group=i + 10)
    for i in range(2):
        m.add(f"0000:a{i}:00.0", "15b3", "1021", "020700", sub=("15b3", "0041"), driver="mlx5_core", numa=i)
    for i in range(4):
        m.add(f"0000:0{i + 5}:00.0", "10de", "22a3", "068000", sub=("10de", "1796"), driver="nvidia-nvswitch")
        m.nodes[f"dev/nvidia-nvswitch{i}"] = (234, i)
    m.driver()
    m.files["proc/modules"] += "nvidia_peermem 1 0 - Live 0x0\n"
    m.toolkit()
    m.library("usr/lib/x86_64-linux-gnu/libcudnn", "9.19.0", 9)
    m.library("usr/lib/x86_64-linux-gnu/libcudnn_ops", "9.19.0", 9)
    m.library("usr/lib/x86_64-linux-gnu/libnccl", "2.28.9", 2)
    m.torch()
    m.ask_nvml()
    m.tries()
    m.processes("nv-fabricmanager", "nvidia-persistenced")
    m.package("nvidia-fabricmanager-580", DRIVER + "-1")
    m.files["etc/slurm/gres.conf"] = "Name=gpu File=/dev/nvidia0\nName=gpu File=/dev/nvidia[1-7]\n"
    return m


def no_gpu():
    m = Machine()
    m.add("0000:00:02.0", "8086", "3ea0", "030000", sub=("8086", "0000"), driver="i915")
    return m


def nouveau_laptop():
    m = Machine(kernel="6.1.0-25-amd64", distribution="debian", version="12", like="")
    m.add("0000:00:02.0", "8086", "3ea0", "030000", sub=("8086", "0000"), driver="i915")
    m.gpu("0000:01:00.0", device="28e0", cls="030000", sub=("1043", "0001"), driver="nouveau", memory=256 << 20)
    m.files["proc/modules"] += "nouveau 1 1 - Live 0x0\n"
    m.nvml_fails(-1, "libnvidia-ml.so.1: cannot open shared object file")
    return m


def mismatch():
    """apt upgraded driver and libraries; nobody restarted."""
    m = Machine()
    m.gpu("0000:01:00.0")
    m.driver("575.57.08", disk=DRIVER, libraries=DRIVER)
    m.nvml_fails(18, "nvmlInit: Driver/library version mismatch")
    return m


def container_without_hook():
    m = Machine(distribution="ubuntu", version="22.04")
    m.gpu("0000:3b:00.0")
    m.container()
    m.files["proc/driver/nvidia/version"] = OPEN_TEXT.format(DRIVER)
    m.files["proc/driver/nvidia/gpus/0000:3b:00.0/information"] = ""
    m.files["proc/modules"] += "nvidia 1 0 - Live 0x0\nnvidia_uvm 1 0 - Live 0x0\n"
    m.mounts[2] = "24 22 0:6 / /dev/shm rw - tmpfs shm rw,size=65536k"
    m.nvml_fails(-1, "libnvidia-ml.so.1: cannot open shared object file")
    return m


def mig():
    m = server(1)
    m.ask_nvml(mig_on=1, mig_pending=1, mig_instances=0)
    m.nodes["dev/nvidia-caps/nvidia-cap1"] = (237, 1)
    return m


def gh200():
    """Grace Hopper with the wrong flavour of the module."""
    m = Machine(machine=ARM, kernel="6.8.0-1012-nvidia-64k")
    m.gpu("0009:01:00.0", device="2342", sub=("10de", "16eb"))
    m.driver(flavour="proprietary")
    m.nvml_fails(28, "nvmlInit: Not Found")
    m.files["proc/driver/nvidia/version"] = CLOSED_TEXT.format(DRIVER)
    return m


def wsl():
    m = Machine(kernel="5.15.153.1-microsoft-standard-WSL2")
    m.nodes["dev/dxg"] = (10, 125)
    m.library("usr/lib/wsl/lib/libcuda", "1")
    m.library("usr/lib/wsl/lib/libnvidia-ml", "1")
    m.addresses = ["0000:01:00.0"]
    m.ask_nvml(name="NVIDIA GeForce RTX 4070", fabric_state=0)
    m.addresses = []
    return m


def vgpu_guest():
    m = Machine()
    m.files["sys/class/dmi/id/sys_vendor"], m.files["sys/class/dmi/id/product_name"] = "QEMU", "Standard PC (Q35)"
    m.gpu("0000:06:00.0", device="2236", sub=("10de", "14c6"))
    m.driver()
    m.ask_nvml(name="NVIDIA A10-24Q", fabric_state=0)
    return m


def cpu_torch():
    m = Machine()
    m.gpu("0000:01:00.0", device="2684", cls="030000", sub=("1043", "88e2"), memory=32 << 30)
    m.driver()
    m.ask_nvml(name="NVIDIA GeForce RTX 4090", fabric_state=0)
    m.torch("2.11.0+cpu", None)
    return m


def two_toolkits():
    """CUDA 11.8 and 13.0, and the libcuda that an older driver's installer left in /usr/lib64."""
    m = Machine()
    m.gpu("0000:01:00.0", device="2684", cls="030000", sub=("1043", "88e2"), memory=32 << 30)
    m.driver()
    m.ask_nvml(name="NVIDIA GeForce RTX 4090", fabric_state=0)
    m.toolkit("11.8.0")
    m.toolkit("13.0.2")
    m.library("opt/old/lib/libcuda", "470.82.01", cached=False)
    m.env["LD_LIBRARY_PATH"] = "/opt/old/lib:/usr/local/cuda-11.8/lib64"
    return m


def dead_gpu():
    m = server(2)
    m.files["sys/devices/pci0000:27/0000:27:01.0/0000:28:00.0/config"] = b"\xff" * 64
    m.ask_nvml(1)
    m.log("NVRM: Xid (PCI:0000:28:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
          "NVRM: GPU 0000:28:00.0: GPU has fallen off the bus.")
    return m


# name: (machine, verdict, exit code, causes: the findings that follow from nothing else, broken ones only)
MACHINES = {
    "healthy_server": (server, "sound", 0, []),
    "no_gpu": (no_gpu, "no_gpu", 2, ["bus.gpu"]),
    "nouveau_laptop": (nouveau_laptop, "broken", 1, ["module.nouveau", "module.installed"]),
    "mismatch": (mismatch, "broken", 1, ["module.upgraded"]),
    "container_without_hook": (container_without_hook, "broken", 1, ["container.hook"]),
    "mig": (mig, "broken", 1, ["health.mig_empty"]),
    "gh200": (gh200, "broken", 1, ["module.open_needed"]),
    "wsl": (wsl, "sound", 0, []),
    "vgpu_guest": (vgpu_guest, "sound", 0, []),
    "cpu_torch": (cpu_torch, "broken", 1, ["framework.cpu_torch"]),
    "two_toolkits": (two_toolkits, "broken", 1, ["driver.match"]),
    "dead_gpu": (dead_gpu, "broken", 1, ["bus.answers", "health.xid"]),
}
