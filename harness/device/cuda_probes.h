// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The links of the chain that only a program can try, from below: each probe does what those before it do and one thing
// more, on every device, so the first that fails names the layer. A process tries one and ends (`--probe NAME`): what a
// lasting error leaves behind is of no use to the next.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace assay {

struct CudaProbe {
  std::string name;
  std::function<std::string()> run;  // what it did; Error with the call that failed, its number and its meaning
};

// init, context, allocation, kernel, synchronise, product_bf16. `kind` as in cuda_device.h.
std::vector<CudaProbe> cuda_probes(const std::string& kind);

}  // namespace assay
