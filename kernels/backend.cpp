// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which machine code a device runs, by the rules of the driver, and the sentences about it. Machine code of a.b runs on
// a.c with c >= b; with an `a` at its end on a.b alone; with an `f` on its family, all a.c with c >= b. Text (PTX) is
// compiled by the driver for everything from its capability on.
#include "kernels/backend.h"

#include <algorithm>

namespace assay::kernels {
namespace {

struct Image {
  int capability = 0;
  char kind = ' ';  // 'a', 'f', 'p': PTX, ' ': plain

  bool runs_on(int device) const {
    const bool newer = device >= capability;
    if (kind == 'a') return device == capability;
    return kind == 'p' ? newer : newer && device / 10 == capability / 10;
  }
};

template <class Use>
void each_image(const char* images, Use use) {
  for (const char* at = images; *at != '\0';) {
    Image image;
    if (*at == 'p') image.kind = 'p';
    for (; *at != '\0' && *at != '_'; ++at) {
      if (*at >= '0' && *at <= '9') image.capability = 10 * image.capability + (*at - '0');
      if (image.kind == ' ' && (*at == 'a' || *at == 'f')) image.kind = *at;
    }
    for (; *at == '_'; ++at) {
    }
    use(image);
  }
}

int newest_of(const char* images) {
  int newest = 0;
  each_image(images, [&](const Image& image) { newest = std::max(newest, image.capability); });
  return newest;
}

std::string needs(const CudaFit& fit) {
  std::string text = "needs a device of compute capability " + cuda_capability_text(fit.lowest);
  return text + (fit.below > newest_capability ? " or later" : " to before " + cuda_capability_text(fit.below));
}

}  // namespace

int cuda_image(const char* images, int capability) {
  if (*images == '\0') return capability;
  int machine_code = -1, text = -1;
  each_image(images, [&](const Image& image) {
    int& best = image.kind == 'p' ? text : machine_code;
    if (image.runs_on(capability)) best = std::max(best, image.capability);
  });
  return machine_code >= 0 ? machine_code : text;
}

bool cuda_newer(const char* images, int capability) { return *images != '\0' && capability > newest_of(images); }

std::string cuda_capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string cuda_describe(const char* family, int capability, const CudaFit& fit) {
  const std::string device = cuda_capability_text(capability), name = family;
  if (fit.version != nullptr) {
    const int image = cuda_image(fit.images, capability);
    std::string text = name + " runs version " + fit.version + " on " + device;
    if (image != capability)
      text = name + " runs version " + fit.version + ", the " + cuda_capability_text(image) + " family's code, on " +
             device;
    if (cuda_newer(fit.images, capability)) text += ", which is newer than all that this build has code for";
    return text + (fit.executed ? "" : "; no test has ever executed this version");
  }
  if (fit.in_range) {
    std::string images = fit.images;
    std::replace(images.begin(), images.end(), '_', ' ');
    return "this build has no code of " + name + " for compute capability " + device + " (it has: " + images +
           "); configure it with -DASSAY_CUDA_ALL=ON";
  }
  if (fit.below == 0) return "this build has no CUDA code of " + name;
  return name + " " + needs(fit) + "; this one has " + device;
}

}  // namespace assay::kernels
