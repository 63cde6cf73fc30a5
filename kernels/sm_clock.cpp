// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See sm_clock.h.
#include "kernels/sm_clock.h"

namespace assay::kernels {

const SmClockOps* sm_clock_ops(Backend backend, int capability) { return ops_for<SmClockOps>(backend, capability, nullptr); }

}  // namespace assay::kernels
