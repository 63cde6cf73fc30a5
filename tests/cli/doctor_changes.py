# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""One thing wrong at a time: changes of the machines of doctor_machines.py, and what assay doctor answers on a changed one."""
import json

import doctor_machines as machines
import harness
from doctor_machines import DRIVER, KERNEL, LIB, SITE

GPU0, GPU1 = "sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0", "sys/devices/pci0000:27/0000:27:01.0/0000:28:00.0"
PORT0 = "sys/devices/pci0000:17/0000:17:01.0"
SEEN0 = "sys/bus/pci/devices/0000:18:00.0"
NIC0 = "sys/devices/pci0000:a0/0000:a0:00.0"
KO = f"lib/modules/{KERNEL}/updates/dkms/nvidia.ko"
EFI = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
ZEROS = "0x0000000000000000 0x0000000000000000 0x0000000000140204\n"


# --- machines to begin with ---
def sound():
    return machines.server(2)


def bare():
    """A GPU without any driver."""
    m = machines.Machine()
    m.gpu("0000:18:00.0", driver=None, above=("0000:17:01.0",))
    m.nvml_fails(-1, "libnvidia-ml.so.1: cannot open shared object file")
    return m


def pod():
    """A container with a GPU, as it should be."""
    m = machines.Machine()
    m.gpu("0000:18:00.0")
    m.driver(dkms=False)
    m.ask_nvml()
    m.container()
    m.mounts.append(f"30 22 8:1 /x /{LIB}/libcuda.so.{DRIVER} ro - ext4 /dev/sda1 ro")
    return m


def small():
    m = machines.Machine()
    m.gpu("0000:18:00.0")
    m.driver()
    m.ask_nvml()
    return m


# --- changes: each takes a machine ---
def file(path, content):
    return lambda m: m.files.__setitem__(path, content)


def without(*paths):
    return lambda m: [m.files.pop(path) for path in paths]


def link(path, to):
    return lambda m: m.links.__setitem__(path, to)


def mark(state, *paths):
    return lambda m: m.states.extend(f"{state} {path}" for path in paths)


def denied(*paths):
    return mark("denied", *paths)


def tries(**outcomes):
    return lambda m: m.tries(**outcomes)


def env(**variables):
    return lambda m: m.env.update(variables)


def no_env(m):
    m.env = None


def nvml(**facts):
    return lambda m: m.ask_nvml(**facts)


def second(**facts):
    return lambda m: m.nvml["devices"][1]["facts"].update(facts)


def no_node(*paths):
    return lambda m: [m.nodes.pop(path) for path in paths]


def log(*lines):
    return lambda m: m.log(*lines)


def unloaded(name):
    return lambda m: m.files.__setitem__("proc/modules", m.files["proc/modules"].replace(name + " 1", "other 1"))


def replaced(path, old, new):
    return lambda m: m.files.__setitem__(path, m.files[path].replace(old, new))


def no_library(name):
    def change(m):
        for kind in (m.files, m.links):
            for path in [p for p in kind if p.startswith(f"{LIB}/{name}.so")]:
                del kind[path]
        m.cache = [p for p in m.cache if f"/{name}.so" not in p]
    return change


def driver(version, flavour="open"):
    return file("proc/driver/nvidia/version",
                (machines.OPEN_TEXT if flavour == "open" else machines.CLOSED_TEXT).format(version))


def card(device, path=GPU0):
    return file(f"{path}/device", f"0x{device}")


def process(*names):
    return lambda m: [m.files.__setitem__(f"proc/{2000 + i}/comm", name[:15]) for i, name in enumerate(names)]


def acs_capability(m):
    config = bytearray(m.files[f"{PORT0}/config"])
    config[0x100:0x108] = bytes([0x0D, 0x00, 0x01, 0x00, 0x00, 0x00, 0x1D, 0x00])
    m.files[f"{PORT0}/config"] = bytes(config)


def use(base, *changes):
    return base, changes


NO_BUS = denied("sys/bus/pci/devices")
NO_LIBRARIES = denied("etc/ld.so.cache")
NO_NVML = mark("unreadable", ".assay/nvml.json")
NO_VERSION = denied("proc/driver/nvidia/version")
NO_DRIVER = lambda m: (NO_VERSION(m), NO_NVML(m))  # noqa: E731
NO_TORCH = denied(SITE)
NO_PROC = denied("proc")
GARBAGE_MODULE = file(KO, b"\x28\xb5\x2f\xfd compressed")
UNSIGNED = lambda m: m.disk_module(DRIVER, signed=False)  # noqa: E731
COMPAT = lambda version: lambda m: (m.library("usr/local/cuda-13.0/compat/libcuda", version, 1, False),  # noqa: E731
                                    m.env.update(LD_LIBRARY_PATH="/usr/local/cuda-13.0/compat"))


class Asked(harness.Case):
    """A case is a machine to begin with and its changes: use(base, change...); changes alone are of the sound server."""

    def setUp(self):
        super().setUp()
        self.made, self.known, self.folders = 0, {}, {}

    def doctor(self, base, changes, *options):
        """Runs it on this machine."""
        m = base()
        for change in changes:
            change(m)
        if m.env is not None:
            (self.tmp / "e.env").write_text("".join(f"{k}={v}\n" for k, v in m.env.items()))
            options = ("--env", self.tmp / "e.env", *options)
        folder = self.folders.setdefault(base, machines.Folder(self.tmp / base.__name__))
        result = self.assay("doctor", "--root", folder.become(m), *options, "--format", "json")
        self.assertEqual(result.stderr, "")
        if self.made % 16 == 0:  # by schema now and then: that is slow, and test_doctor_machines does it for each machine
            self.valid("doctor.v1", result.stdout)
        self.made += 1
        return result

    def answers(self, case):
        """Of all checks on this machine, by id."""
        if case not in self.known:
            self.known[case] = {check["id"]: check for check in json.loads(self.doctor(*case).stdout)["checks"]}
        return self.known[case]

    @staticmethod
    def as_case(text):
        if isinstance(text, tuple) and len(text) == 2 and isinstance(text[1], tuple):
            return text
        return sound, text if isinstance(text, tuple) else (text,)
