# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# Compiles kernels/*.cu with nvcc 13 where there is one, for few architectures and with warnings as errors: target
# assay_kernels_cuda13, which no program links yet and which is no part of `all`; the test cuda.build builds it, so ctest says
# how long that takes. It shows that the sources are CUDA; that they are right is shown by tests/simt, without a toolkit.
# A machine without nvcc, or with one that can't compile, builds all the rest. To leave it out: -DASSAY_CUDA13=OFF. Another
# nvcc: CUDACXX=/path/to/nvcc in the environment. Other architectures: -DCMAKE_CUDA_ARCHITECTURES=...
if(ASSAY_CUDA13 STREQUAL "OFF")
  return()
endif()
find_program(ASSAY_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
if(ASSAY_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(CMAKE_CUDA_COMPILER ${ASSAY_NVCC})
endif()
set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real CACHE STRING "architectures of the CUDA kernels")
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  return()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
  message(STATUS "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 13: the CUDA kernels are not compiled with it")
  return()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu)
add_library(assay_kernels_cuda13 OBJECT EXCLUDE_FROM_ALL ${cuda_sources})
set_target_properties(assay_kernels_cuda13 PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
target_include_directories(assay_kernels_cuda13 PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_options(assay_kernels_cuda13 PRIVATE -O3 -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
if(ASSAY_TESTS)
  add_test(NAME cuda.build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target assay_kernels_cuda13)
  set_tests_properties(cuda.build PROPERTIES LABELS simt TIMEOUT 600)
endif()
