// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Work that waits in streams. A launch, a copy or an event becomes an entry at the end of its stream, and runs when a
// call synchronises, as late as that call allows or in any other order that CUDA allows:
//   - a stream runs its entries in order; cudaStreamWaitEvent makes an entry that waits for another stream's;
//   - an entry of the default stream waits for all that was there before it in other streams, and those for it, except
//   in streams with
//     cudaStreamNonBlocking.
// Schedules in_order and reverse run each entry at once. In priority nothing runs that the call doesn't wait for; in
// random anything may. So a host that reads too early finds old or spoilt data, and a kernel that should have waited
// for another stream comes first.
#pragma once

#include <functional>
#include <memory>

#include "cuda_runtime.h"

namespace assay::simt {

bool is_stream(cudaStream_t stream);
// Appends. The entry is gone once it has run, or when a fault has ended the device.
void enqueue(cudaStream_t stream, std::function<void()> run);
// Runs what a caller waits for who waits for this stream.
void finish(cudaStream_t stream);
void finish_all();
// Forgets what waits: after a fault nothing runs any more.
void drop_all();

}  // namespace assay::simt
