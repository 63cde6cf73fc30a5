# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""The inline PTX of kernels/ptx*.cuh, which tests/simt never sees: which statement of which function stands in kernels that ran."""
import collections
import re
import subprocess
import typing

import rig

LITERALS = re.compile(r'\basm\s*(?:volatile)?\s*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
FUNCTION = re.compile(r"__forceinline__[^;{}(]*?(\w+)\s*\(")
OPERAND = re.compile(r"%\d+")
NOT_HERE = "ptx_blackwell.cuh"  # of a kernel that no rig executes


class Statement(typing.NamedTuple):
    file: str
    function: str
    text: str  # as it is written: %0 is the first operand

    @property
    def instruction(self):
        return rig.instruction(self.text)

    def pattern(self):
        """What nvcc writes for it: any register or constant for an operand."""
        parts = [OPERAND.sub(r"[^\\s,{}\\[\\]]+", re.escape(part)) for part in self.text.split("%%")]
        return re.compile("%".join(parts))


def statements():
    """All of them, without declarations of registers."""
    found = []
    for path in sorted((rig.ROOT / "kernels").glob("ptx*.cuh")):
        if path.name == NOT_HERE:
            continue
        text = "".join(line for line in path.open() if not line.startswith("#include"))
        text = subprocess.run(["c++", "-E", "-P", "-x", "c++", "-"], input=text, check=True, capture_output=True, text=True).stdout
        functions = list(FUNCTION.finditer(text))
        for asm in LITERALS.finditer(text):
            function = [f[1] for f in functions if f.start() < asm.start()][-1]
            template = "".join(LITERAL.findall(asm[1])).replace(r"\n", " ")
            found += [Statement(path.name, function, s) for s in map(rig.plain, template.split(";"))
                      if s not in ("", "}") and not s.startswith(".reg")]
    return found


def absent(wanted, of_kernels):
    """Those of `wanted` that stand in none of these sets of statements."""
    by_instruction = collections.defaultdict(set)
    for text in set().union(*of_kernels):
        if text not in ("", "}"):
            by_instruction[rig.instruction(text)].add(text)
    return [s for s in wanted if not any(map(s.pattern().fullmatch, by_instruction[s.instruction]))]
