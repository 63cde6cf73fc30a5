# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels as the multiprocessor gets them: read from an object file or cubin with cuobjdump, nvdisasm and c++filt.

    for kernel in kernels(Path("build/kernels/.../stream.cu.o")):
        kernel.name, kernel.architecture, kernel.registers, kernel.loops()

Trap: a loop is a branch backwards. What the compiler unrolled by hand and left as a remainder is a second loop, and a loop whose
body it could fold away is none."""
import dataclasses
import functools
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Missing(Exception):
    """Something that an inspection needs isn't here; nothing is said about the kernels."""


@functools.cache
def tool(name):
    """Where a tool of the CUDA toolkit is: what scripts/setup brought, else PATH, CUDA_PATH, /usr/local/cuda."""
    places = sorted(ROOT.glob(f"build/venv/lib/python3*/site-packages/nvidia/*/bin/{name}"))
    places += [pathlib.Path(found) for found in [shutil.which(name)] if found]
    places += [pathlib.Path(os.environ.get("CUDA_PATH", "/usr/local/cuda"), "bin", name)]
    for place in places:
        if os.access(place, os.X_OK):
            return str(place)
    raise Missing(f"there is no {name} in build/venv, on PATH, in CUDA_PATH or in /usr/local/cuda: "
                  "scripts/setup --for test brings it where there is an nvcc")


def output_of(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Missing(f"{' '.join(str(word) for word in command[:3])} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    opcode: str    # "LDG.E.128"
    operands: str  # "R4, desc[UR4][R2.64]"

    @property
    def access(self):
        """Bytes that a thread loads from or stores to global memory; 0: it does neither."""
        if not re.match(r"(LDG|STG|LD|ST)(\.|$)", self.opcode):
            return 0
        for mark, size in ((".256", 32), (".128", 16), (".64", 8), ("16", 2), ("8", 1)):
            if any(part.endswith(mark.strip(".")) for part in self.opcode.split(".")[1:]):
                return size
        return 4

    @property
    def loads(self):
        return self.access if self.opcode.startswith("LD") else 0

    @property
    def touches_memory(self):
        return bool(re.match(r"(LD(?!C|SM_)|ST|ATOM|RED|U?BLKCP|UTMA)", self.opcode))

    @property
    def registers(self):
        return [int(number) for number in re.findall(r"\bR(\d+)\b", self.operands)]


@dataclasses.dataclass
class Kernel:
    file: str          # "stream.cu"
    architecture: str  # "90a"
    name: str          # "map_vector<Map::copy, Hint::normal, 4, float>"
    registers: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0
    threads: int = 0   # of the largest block that it may be launched with; 0: not said
    instructions: list = dataclasses.field(default_factory=list)
    labels: dict = dataclasses.field(default_factory=dict)

    def spans(self):
        """First and last address of each loop."""
        spans = {}
        for i in self.instructions:
            target = re.search(r"`\((\.L\w+)\)", i.operands)
            if target and i.opcode.startswith("BRA"):
                begin = self.labels[target[1]]
                if begin < i.address:  # a branch to itself is the padding at the end
                    spans[begin] = max(i.address, spans.get(begin, 0))
        return sorted(spans.items())

    def loops(self):
        """Innermost loops, each as the list of its instructions."""
        spans = self.spans()
        return [[i for i in self.instructions if begin <= i.address <= end] for begin, end in spans
                if not any(begin < other <= end for other, _ in spans)]

    def bodies(self):
        """All loops, each without the loops inside of it."""
        spans = self.spans()
        for begin, end in spans:
            nested = [(b, e) for b, e in spans if begin < b <= end]
            yield [i for i in self.instructions
                   if begin <= i.address <= end and not any(b <= i.address <= e for b, e in nested)]

    def bytes_in_flight(self):
        """The most that a thread has asked global memory for and not needed yet, in the loop where that is most. Where some loop
        reads past the caches (.EF), only such loops count: others fill in the report of an error."""
        bodies = list(self.bodies())
        streaming = [body for body in bodies if any(i.loads and ".EF" in i.opcode for i in body)]
        return max((most_outstanding(body) for body in streaming or bodies), default=0)


def most_outstanding(loop):
    """A load is under way until an instruction names a register that it fills. Twice around, for what is asked for ahead."""
    under_way, most = {}, 0  # first register: bytes
    for i in loop + loop:
        named = set(i.registers)
        if i.loads:
            named |= set(range(i.registers[0], i.registers[0] + max(1, i.loads // 4)))
        under_way = {first: size for first, size in under_way.items()
                     if not named.intersection(range(first, first + max(1, size // 4)))}
        if i.loads and ".STRONG" not in i.opcode:  # those look at what other threads report
            under_way[i.registers[0]] = i.loads
        most = max(most, sum(under_way.values()))
    return most


# --- reading ----------------------------------------------------------------------------------------------------------

def enumerators(*sources):
    """{"Map": ["write", "copy", ...]}: machine code has numbers where the source has names."""
    text = "".join(source.read_text() for source in sources)
    return {name: [word.strip() for word in words.split(",")]
            for name, words in re.findall(r"enum class (\w+)[^{;]*\{([^}]*)\}", text)}


def short_name(demangled, enums):
    """map_vector<Map::copy, 4, float> of a demangled name: no return type, no arguments, no namespaces."""
    name = re.sub(r"\w+::|\(anonymous namespace\)::", "", demangled)
    name = re.sub(r"\((\w+)\)(\d+)", lambda m: f"{m[1]}::{enums[m[1]][int(m[2])]}" if m[1] in enums else m[2], name)
    name = re.sub(r"\b(\d+)u?l*\b", r"\1", name.replace("unsigned int", "unsigned").replace("unsigned long", "u64"))
    depth, end = 0, len(name)
    for at, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            end = at
            break
    return name[:end].removeprefix("void ").strip()


def resources(cubin):
    """{mangled name: {"REG": 32, "STACK": 0, "SHARED": 0}}"""
    result, name = {}, None
    for line in output_of(tool("cuobjdump"), "-res-usage", cubin).splitlines():
        if found := re.match(r"\s*Function (\S+):", line):
            name = found[1]
        elif name and "REG:" in line:
            result[name] = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)}
            name = None
    return result


def launch_bounds(cubin):
    """{mangled name: threads of a block}, from the attributes that the driver reads."""
    sections = re.split(r"^\.(\S+)$", output_of(tool("cuobjdump"), "-elf", cubin), flags=re.MULTILINE)
    bounds = ((name, re.search(r"EIATTR_MAX_THREADS\s+Format:.*\s+Value:\s+(0x\w+) (0x\w+) (0x\w+)", text))
              for name, text in zip(sections[1::2], sections[2::2]))
    return {name.removeprefix("nv.info."): math.prod(int(side, 16) for side in found.groups())
            for name, found in bounds if found}


def read_cubin(cubin, file, enums):
    architecture = re.search(r"sm_(\d+[af]?)", cubin.name)[1]
    used, bounds, result = resources(cubin), launch_bounds(cubin), {}
    kernel = None
    for line in output_of(tool("nvdisasm"), "-c", cubin).splitlines():
        if found := re.match(r"\.text\.(\S+):", line):
            mangled = found[1]
            usage = used[mangled]
            # From 9.0 on the KiB that the system takes of each block is counted in.
            own = usage["SHARED"] - (1024 if usage["SHARED"] > 0 and int(architecture.rstrip("af")) >= 90 else 0)
            kernel = result[mangled] = Kernel(file, architecture, mangled, usage["REG"], usage["STACK"], own,
                                              bounds.get(mangled, 0))
        elif kernel and (found := re.match(r"(\.L\w+):", line)):
            kernel.labels[found[1]] = (kernel.instructions[-1].address + 16) if kernel.instructions else 0
        elif kernel and (found := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;", line)):
            # What is for nobody (@!UPT) is how 8.x spells an instruction that only takes time.
            opcode = "NOP" if "@!UPT " in line else found[2]
            kernel.instructions.append(Instruction(int(found[1], 16), opcode, found[3]))
    names = output_of("c++filt", input="\n".join(result)).splitlines()
    for kernel, name in zip(result.values(), names):
        kernel.name = short_name(name, enums)
    return list(result.values())


def kernels(binary, source):
    """All kernels of an object file or cubin that was made of `source`, for each architecture in it."""
    enums = enumerators(*sorted((ROOT / "kernels").glob("*.cuh")), *sorted((ROOT / "kernels").glob("*.h")), source)
    if binary.suffix == ".cubin":
        return read_cubin(binary, source.name, enums)
    with tempfile.TemporaryDirectory(prefix="assay-inspect-") as folder:
        output_of(tool("cuobjdump"), "-xelf", "all", binary.resolve(), cwd=folder)
        cubins = sorted(pathlib.Path(folder).glob("*.cubin"))
        return [kernel for cubin in cubins for kernel in read_cubin(cubin, source.name, enums)]
