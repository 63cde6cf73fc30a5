// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What stands between the kernels and libcudart: launches.cpp, images.cpp.
#pragma once

#include <dlfcn.h>

#include <string>

namespace assay::ptx {

// CUDA's function of this name, which one of ours stands before.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// What the device says it has. Small, so that small data goes around the grid more than once.
void set_processors(int count);

// A fat binary with its PTX as the interpreter takes it (images.cpp). The result stays valid.
const char* image_for_interpreter(const char* image);
std::string with_shared_in_kernels(const std::string& ptx);

}  // namespace assay::ptx
