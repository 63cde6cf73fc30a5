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
find_program(ASSAY_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
set(nvcc ${ASSAY_NVCC})
if(DEFINED ENV{CUDACXX})
  set(nvcc $ENV{CUDACXX})
endif()
if(ASSAY_CUDA13 STREQUAL "OFF")
  set(ASSAY_NO_NVCC "this build was configured with ASSAY_CUDA13=OFF")
elseif(NOT nvcc)
  set(ASSAY_NO_NVCC "there is no nvcc on PATH, in CUDA_PATH or in /usr/local/cuda")
elseif(NOT ASSAY_NVCC_WORKS STREQUAL nvcc)
  # enable_language() stops everything if nvcc can't compile, as with a C++ compiler that is too new for it.
  set(probe ${CMAKE_BINARY_DIR}/nvcc_probe)
  file(WRITE ${probe}.cu "__global__ void probe() {}\nint main() {}\n")
  execute_process(COMMAND ${nvcc} -o ${probe} ${probe}.cu RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    string(REGEX MATCH "[^\n]*error[^\n]*" line "${text}")
    set(ASSAY_NO_NVCC "${nvcc} can't make a program (exit ${failed}) ${line}")
  else()
    set(ASSAY_NVCC_WORKS ${nvcc} CACHE INTERNAL "an nvcc that made a program")
  endif()
endif()
if(NOT ASSAY_NO_NVCC)
  set(CMAKE_CUDA_COMPILER ${nvcc} CACHE FILEPATH "nvcc" FORCE)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real CACHE STRING "architectures of the CUDA kernels")
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    set(ASSAY_NO_NVCC "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 13")
  endif()
endif()

if(NOT ASSAY_NO_NVCC)
  file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu)
  add_library(assay_kernels_cuda13 OBJECT EXCLUDE_FROM_ALL ${cuda_sources})
  set_target_properties(assay_kernels_cuda13 PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  target_include_directories(assay_kernels_cuda13 PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(assay_kernels_cuda13 PRIVATE -O3 -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
  # What scripts/inspect reads.
  file(GENERATE OUTPUT cuda13_objects.txt CONTENT "$<JOIN:$<TARGET_OBJECTS:assay_kernels_cuda13>,\n>\n")
else()
  file(REMOVE ${CMAKE_CURRENT_BINARY_DIR}/cuda13_objects.txt)  # of an earlier configuration
endif()
if(ASSAY_TESTS)
  if(ASSAY_NO_NVCC)
    file(WRITE ${CMAKE_BINARY_DIR}/no_nvcc.txt "skipped: ${ASSAY_NO_NVCC}, so the CUDA kernels are not compiled\n")
    add_test(NAME cuda.build COMMAND sh -c "cat '${CMAKE_BINARY_DIR}/no_nvcc.txt'; exit 77")
  else()
    add_test(NAME cuda.build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target assay_kernels_cuda13)
  endif()
  set_tests_properties(cuda.build PROPERTIES LABELS simt SKIP_RETURN_CODE 77 TIMEOUT 600 FIXTURES_SETUP cuda_kernels)
endif()
