// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "async.h"

#include "clocks.h"
#include "shared_memory.h"

namespace assay::simt {

void forget_asynchronous(unsigned threads) {
  clocks().begin_block(threads);
  forget_barriers();
  forget_bulk(threads);
  forget_products();
}

bool shared_at(const void* p, std::size_t* index) {
  unsigned slot = 0;
  return shared_index(p, &slot, index) && slot == block().slot();
}

void use_clocks(Where where) {
  if (blocks_together() != 1) {
    fail(cudaErrorLaunchFailure, "mbarriers, bulk copies and wgmma in blocks that run together: not in this rig",
         where);
  }
  clocks().activate();
}

std::string finish_asynchronous() {
  const std::string text = finish_bulk();
  return text.empty() ? finish_products() : text;
}

}  // namespace assay::simt
