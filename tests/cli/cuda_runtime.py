# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""A CUDA runtime library that tells what a test wants of devices; all else of it fails as it does on a machine without any."""
import subprocess

SOURCE = """#include <stdlib.h>
int cudaGetDeviceCount(int* count) { return *count = atoi(getenv("DEVICES")), 0; }
int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  const int capability = atoi(getenv("CAPABILITY"));
  (void)device;
  return *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 0, 0;
}
"""


def told(folder, devices=1, capability=90):
    """The variables of a process that hears it."""
    library = folder / "runtime.so"
    if not library.exists():
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SOURCE, text=True, check=True)
    return {"LD_PRELOAD": str(library), "DEVICES": str(devices), "CAPABILITY": str(capability)}
