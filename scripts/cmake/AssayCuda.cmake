# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# Compiles kernels/*.cu with nvcc 13 where there is one, for few architectures and with warnings as errors: target
# assay_kernels_cuda13, which no program links yet and which is no part of `all`; the test cuda.build builds it, so ctest says
# how long that takes. It shows that the sources are CUDA; that they are right is shown by tests/simt, without a toolkit.
# A machine without nvcc, or with one that can't compile, builds all the rest, and the test is skipped. To leave it out:
# -DASSAY_CUDA13=OFF. Another nvcc: CUDACXX=/path/to/nvcc in the environment. Other architectures:
# -DCMAKE_CUDA_ARCHITECTURES=...
set(ASSAY_NO_NVCC "")  # why the kernels are not compiled with it
if(ASSAY_CUDA13 STREQUAL "OFF")
  set(ASSAY_NO_NVCC "this build was configured with ASSAY_CUDA13=OFF")
else()
  find_program(ASSAY_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  if(ASSAY_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${ASSAY_NVCC})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real CACHE STRING "architectures of the CUDA kernels")
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
      set(ASSAY_NO_NVCC "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 13")
    endif()
  elseif(ASSAY_NVCC)
    set(ASSAY_NO_NVCC "${ASSAY_NVCC} can't compile")
  else()
    set(ASSAY_NO_NVCC "there is no nvcc on PATH, in CUDA_PATH or in /usr/local/cuda")
  endif()
endif()

if(NOT ASSAY_NO_NVCC)
  file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu)
  add_library(assay_kernels_cuda13 OBJECT EXCLUDE_FROM_ALL ${cuda_sources})
  set_target_properties(assay_kernels_cuda13 PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  target_include_directories(assay_kernels_cuda13 PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(assay_kernels_cuda13 PRIVATE -O3 -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
endif()
if(ASSAY_TESTS)
  if(ASSAY_NO_NVCC)
    add_test(NAME cuda.build COMMAND sh -c "echo \"skipped: ${ASSAY_NO_NVCC}, so the CUDA kernels are not compiled with it\"; exit 77")
  else()
    add_test(NAME cuda.build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target assay_kernels_cuda13)
  endif()
  set_tests_properties(cuda.build PROPERTIES LABELS simt SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
