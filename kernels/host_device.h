// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// For functions that host and device code share; nothing for a compiler that knows no devices.
#pragma once

#if defined(__CUDACC__)
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
