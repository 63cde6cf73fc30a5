# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""What each target of tests/fuzz starts from: files of the checkout, seeds/TARGET/, and the ones below, in which the
forms of a format stand side by side. Parts of an input are separated as fuzz.h says."""
import gzip
import io
import json
import pathlib
import struct
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEPARATOR = b"\x1e"
FILES = {
    "records": [],
    "profile": ["benchmarks/profiles/*.toml"],
    "scenario": ["tests/fixtures/scenarios/*.toml"],
    "rules": ["results/rules/*.toml"],
    "import_csv": ["tests/fixtures/import/*.csv"],
    "import_google_benchmark": ["tests/fixtures/import/google_benchmark.json"],
    "import_nvbench": ["tests/fixtures/import/nvbench.json"],
}

LOGS = [
    b"[12345.678] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    b"[12345.679] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n",
    b"Dec  1 10:00:00 node kernel: NVRM: Xid (PCI:0000:86:00): 48, pid=1234, DBE (double bit error) on FB 2\n"
    b"<4>[ 10.0] NVRM: Xid (PCI:0000:86:00): 63, Row remapper: New row marked for remapping\n",
    b"==============NVSMI LOG==============\n\nAttached GPUs                             : 1\n"
    b"GPU 00000000:3B:00.0\n    Product Name                          : NVIDIA H100\n"
    b"    Remapped Rows\n        Correctable Error                 : 0\n        Pending                           : Yes\n"
    b"    Clocks Event Reasons\n        HW Thermal Slowdown               : Active\n",
    b'<?xml version="1.0" ?>\n<nvidia_smi_log>\n <gpu id="00000000:3B:00.0">\n  <remapped_rows>\n   <pending>Yes</pending>\n'
    b"  </remapped_rows>\n </gpu>\n</nvidia_smi_log>\n",
    b"| Thermal                   | Warning - GPU 0 Thermal violations totaling    |\n"
    b"|                           | 12 seconds                                     |\n",
    b'{"DCGM GPU Diagnostic":{"test_categories":[{"category":"Hardware","tests":[{"name":"Memory","results":[{"gpu_id":"0",'
    b'"status":"Fail","warnings":[{"error_id":81,"warning":"GPU 0 Xid 95"}]}]}]}]}}',
    b"RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported\n",
    b"node1:123:456 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0\n"
    b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.\n",
    b"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n",
    b"\xff\xfeX\x00i\x00d\x00", b"Xid 79\n\x00\x00\x00NVRM: Xid (PCI:0000:3b:00): 13, cut",
]

MANIFEST = b'{"schema":"assay.manifest.v1","worker":"x","version":"1","benchmarks":[]}'
MESSAGES = [
    b'{"type":"hello","schema":"assay.worker.v1","worker":"cpu","version":"0.1.0","commit":"","pid":7}',
    b'{"type":"case_begin","id":1}', b'{"type":"heartbeat","id":1,"phase":"measure"}',
    b'{"type":"window","id":1,"metric":"bandwidth","unit":"B/s","value":1e9,"seconds":0.5}',
    b'{"type":"case_end","id":1}',
]
CLASSES = (ROOT / "results" / "classes.csv", ROOT / "results" / "identities.csv")


def head(path, lines):
    return b"".join(path.read_bytes().splitlines(keepends=True)[:lines])


def loader_cache(names):
    """/etc/ld.so.cache in its newer form: magic, counts, entries of 24 bytes, then the texts."""
    start = 48 + 24 * len(names)
    texts, entries = b"", b""
    for name in names:
        key = start + len(texts)
        texts += name.encode() + b"\0"
        value = start + len(texts)
        texts += b"/usr/lib/x86_64-linux-gnu/" + name.encode() + b"\0"
        entries += struct.pack("<iIIIQ", 0x0303, key, value, 0, 0)
    return b"glibc-ld.so.cache1.1" + struct.pack("<II", len(names), len(texts)) + b"\x02" + bytes(19) + entries + texts


def kernel_module(info):
    """A 64-bit ELF file with two sections: names and .modinfo."""
    names = b"\0.modinfo\0.shstrtab\0"
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 3, 2)
    at = 64 + 3 * 64
    sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, at, len(info), 0, 0, 1, 0) + struct.pack(
        "<IIQQQQIIQQ", 10, 3, 0, 0, at + len(info), len(names), 0, 0, 1, 0)
    return header + sections + info + names + b"~Module signature appended~\n"


def configuration_space():
    """Of a bridge with ACS: vendor and device at 0, extended capabilities from 0x100 on."""
    space = bytearray(4096)
    space[0:4] = struct.pack("<HH", 0x10b5, 0x8747)
    space[0x100:0x104] = struct.pack("<I", 0x1 | 1 << 16 | 0x148 << 20)
    space[0x148:0x150] = struct.pack("<IHH", 0xd | 1 << 16, 0x5f, 0x1d)
    return bytes(space)


def machine():
    """The order of doctor_fuzz.cpp's files."""
    contents = [b"0x10de\n", b"0x2330\n", b"0x030200\n", configuration_space(),
                b"0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n" * 3, b"8.0 GT/s PCIe\n", b"32.0 GT/s PCIe\n",
                b"BadTLP 3\nTOTAL_ERR_FATAL 3\n", b"-1\n", b"BOOT_IMAGE=/vmlinuz nouveau.modeset=0 iommu=pt\n",
                b"nvidia 1000 2 nvidia_uvm, Live 0x0 (OE)\nnouveau 1 0 - Live 0x0\n", b"Linux version 6.1.0 (gcc) #1 SMP\n",
                b"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n",
                b"1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / /home rw - nfs4 h:/x rw\n", b"0::/kubepods/pod1/abc\n",
                b'ID=debian\nVERSION_ID="12"\n', loader_cache(["libcuda.so.1", "libcudart.so.13"]),
                b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00", kernel_module(b"version=580.95.05\0vermagic=6.1.0 SMP\0"),
                b"updates/dkms/nvidia.ko:\n", b'{"cuda":{"version":"13.0.0"}}', b"__version__ = '2.9.0+cpu'\ncuda = None\n",
                json.dumps({"driver": "580.95.05", "devices": []}).encode(), b'{"synchronised": true, "at": 1764547200}',
                b"dev/nvidia0 195 0 0666 0 0\n", b"denied proc/cmdline\n",
                b"Package: nvidia-driver\nStatus: install ok installed\nVersion: 580.95.05-1\n\n", LOGS[0],
                b"NodeName=n1 Name=gpu File=/dev/nvidia[0-7]\n"]
    return SEPARATOR.join(bytes([i]) + c.replace(SEPARATOR, b"") for i, c in enumerate(contents))


def facts_of_a_bundle():
    """Of one GPU, and of what is only read where it stands: the reader takes what is missing for "not in the bundle"."""
    fact = lambda value: {"state": "value", "value": value, "source": "/x"}  # noqa: E731
    card = {"address": "0000:01:00.0", "vendor": fact("10de"), "device": fact("2330"), "bars": fact([{"index": 0, "bytes": 1 << 24}]),
            "config": fact({"bytes": 4096, "all_ones": True, "redirects": False}), "above": fact([])}
    library = {"path": "/lib/libcuda.so.1", "real": "/lib/libcuda.so.580.95.05", "name": "libcuda", "version": "580.95.05", "from": "cache",
               "bytes": 1, "machine": "x86_64", "stub": False, "compat": False, "order": 0}
    return {"schema": "assay.bundle.v1", "assay": "0.1.0", "undecided": ["health.xid"], "facts": {
        "bus": fact(["0000:01:00.0"]), "gpus": [card], "switches": [], "displays": [], "network_cards": [], "bridges": [],
        "system": {"kernel": fact("6.8.0-45-generic"), "cloud": "", "wsl": False, "virtual_machine": False},
        "modules": {"version": fact("580.95.05"), "loaded": fact([{"name": "nvidia", "version": fact("580.95.05")}])},
        "nodes": {"control": fact({"major": 195, "minor": 255, "mode": 438, "user": 0, "group": 0, "usable": True})},
        "nvml": fact({"loaded": True, "code": 0, "detail": "", "driver": "580.95.05", "cuda": "13.0", "devices": []}),
        "libraries": {"all": fact([library]), "search_missing": [], "search_current_folder": False}, "frameworks": {"conda_and_pip": []},
        "container": {"kind": fact("docker")}, "cluster": {"packages": fact({"nvidia-fabricmanager-580": "580.95.05-1"})},
        "environment": fact({"LD_PRELOAD": "x"}), "log": fact([]), "silent_mounts": [], "hidden": [], "log_is_whole": True}}


def bundle(facts):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        info = tarfile.TarInfo("assay-bundle/facts.json")
        info.size = len(facts)
        tar.addfile(info, io.BytesIO(facts))
    return gzip.compress(raw.getvalue(), mtime=0)


def written_here():
    facts = json.dumps(facts_of_a_bundle()).encode()
    record = (ROOT / "tests" / "fixtures" / "records.jsonl").read_bytes().splitlines()
    return {
        "bundle": [facts, bundle(facts)],
        "explain": LOGS,
        "records": record,
        "classes": [head(CLASSES[0], 4) + SEPARATOR + head(CLASSES[1], 6)],
        "doctor": [machine()],
        "loader_cache": [loader_cache(["libcuda.so.1", "libnvidia-ml.so.1"]), b"CUDA_VISIBLE_DEVICES=0\0LD_PRELOAD=x",
                         b"gpus>=1,capability>=8.0,driver>=580,cuda=13.0"],
        "worker": [MANIFEST] + [SEPARATOR + m for m in MESSAGES]
                  + [SEPARATOR.join([MANIFEST, *MESSAGES, b'{"type":"record","id":1,"record":' + record[0] + b"}"])],
        "import_csv": [b"host,device,device_class,benchmark,case,metric,unit,better,session,sample,value\n"
                       b"n,g0,h100_sxm5_80gb,memory/stream,op:copy,bandwidth,GB/s,higher,0,0,3000\n"
                       b'n,"g,1",,b,c,time,us,lower,1,0,1e-3\n'],
    }


def write(target, folder):
    """Writes the seeds of a target and returns how many there are."""
    inputs = [p.read_bytes() for pattern in FILES.get(target, []) for p in sorted(ROOT.glob(pattern))]
    inputs += [p.read_bytes() for p in sorted((pathlib.Path(__file__).parent / "seeds" / target).glob("*"))]
    inputs += written_here().get(target, [])
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(inputs):
        (folder / f"seed{i}").write_bytes(data)
    return len(inputs)
