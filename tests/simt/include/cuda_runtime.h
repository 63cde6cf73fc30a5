// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for NVIDIA's header of this name: first on the include path, it lets g++ compile the unchanged .cu files of
// kernels/ for the CPU. Only what our kernels and tests use is here, with the meaning of CUDA; what is missing is a
// compile error, never a guess. simt/types.h: vectors and keywords; simt/api.h: the runtime library; simt/device.h:
// what a kernel calls.
#pragma once

#include "simt/api.h"
#include "simt/device.h"
#include "simt/driver.h"
#include "simt/types.h"
