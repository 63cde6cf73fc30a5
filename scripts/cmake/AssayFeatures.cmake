# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# Finds the libraries. Required ones stop with the name of the Debian package; optional ones become a feature that is on
# or off: `assay_feature(NAME ENABLED TEXT)`. The features are printed at the end of configure and compiled into the
# binaries (harness/build_info.h), so that `assay list` can say what this build can't do and why.
# To leave one out that is there: -DASSAY_OPENBLAS_LIBRARY=  -DASSAY_DNNL_LIBRARY=  -DASSAY_NVML_INCLUDE=
set_property(GLOBAL PROPERTY ASSAY_FEATURES "")

# Trap: a parameter named `on` would be the constant ON to if(), so true always.
function(assay_feature name enabled text)
  if(enabled)
    set(state on)
  else()
    set(state off)
  endif()
  set_property(GLOBAL APPEND PROPERTY ASSAY_FEATURES "${name}|${state}|${text}")
endfunction()

function(assay_print_features)
  get_property(features GLOBAL PROPERTY ASSAY_FEATURES)
  message(STATUS "Assay features:")
  foreach(feature IN LISTS features)
    string(REPLACE "|" ";" parts "${feature}")
    list(GET parts 0 name)
    list(GET parts 1 state)
    list(GET parts 2 text)
    string(LENGTH "${name}" length)
    math(EXPR pad "10 - ${length}")
    string(REPEAT " " ${pad} spaces)
    message(STATUS "  ${name}${spaces}${state}  ${text}")
  endforeach()
endfunction()

function(assay_require variable package what)
  if(NOT ${variable})
    message(FATAL_ERROR "${what} was not found: run scripts/setup, or install the Debian package ${package}")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(OpenMP QUIET COMPONENTS CXX)
assay_require(OpenMP_CXX_FOUND g++ "OpenMP")
find_package(fmt QUIET)
assay_require(fmt_FOUND libfmt-dev "the formatting library fmt")
find_package(nlohmann_json QUIET)
assay_require(nlohmann_json_FOUND nlohmann-json3-dev "nlohmann-json")
find_package(simdjson QUIET)
assay_require(simdjson_FOUND libsimdjson-dev "simdjson")
find_package(CLI11 QUIET)
assay_require(CLI11_FOUND libcli11-dev "CLI11")
find_package(tomlplusplus QUIET)
assay_require(tomlplusplus_FOUND libtomlplusplus-dev "toml++")
find_package(benchmark QUIET)
assay_require(benchmark_FOUND libbenchmark-dev "Google Benchmark")
find_path(ASSAY_RE2_INCLUDE re2/re2.h)
find_library(ASSAY_RE2_LIBRARY re2)
assay_require(ASSAY_RE2_LIBRARY libre2-dev "RE2")
find_path(ASSAY_FCCP_INCLUDE libfccp/csv.h)
assay_require(ASSAY_FCCP_INCLUDE libfccp-dev "fast-cpp-csv-parser")
find_path(ASSAY_HWY_INCLUDE hwy/highway.h)
find_library(ASSAY_HWY_LIBRARY hwy)
assay_require(ASSAY_HWY_LIBRARY libhwy-dev "Highway")
find_path(ASSAY_XXHASH_INCLUDE xxhash.h)
find_library(ASSAY_XXHASH_LIBRARY xxhash)
assay_require(ASSAY_XXHASH_LIBRARY libxxhash-dev "xxHash")
find_path(ASSAY_ARCHIVE_INCLUDE archive_entry.h)  # its types: the library is opened when a bundle is made or read
assay_require(ASSAY_ARCHIVE_INCLUDE libarchive-dev "libarchive")
find_path(ASSAY_BOOST_INCLUDE boost/math/distributions/non_central_t.hpp)
assay_require(ASSAY_BOOST_INCLUDE libboost-dev "Boost.Math")

# OpenBLAS in the OpenMP flavour, so that its threads are the pinned ones.
find_path(ASSAY_OPENBLAS_INCLUDE openblas_config.h PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
find_library(ASSAY_OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp)
if(ASSAY_OPENBLAS_INCLUDE AND ASSAY_OPENBLAS_LIBRARY)
  set(ASSAY_HAVE_OPENBLAS ON)
endif()
assay_feature(openblas "${ASSAY_HAVE_OPENBLAS}" "matrix products by OpenBLAS (libopenblas-openmp-dev)")
# oneDNN 2 and 3 differ in how a primitive is described, and one that isn't built with OpenMP has threads of its own, which
# can't be pinned: what was found is tried out.
find_path(ASSAY_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(ASSAY_DNNL_LIBRARY dnnl)
set(onednn_text "matrix products by oneDNN: f32, bf16, int8 (libdnnl-dev)")
if(ASSAY_DNNL_INCLUDE AND ASSAY_DNNL_LIBRARY)
  try_compile(ASSAY_HAVE_ONEDNN ${CMAKE_BINARY_DIR}/try_onednn ${CMAKE_CURRENT_LIST_DIR}/try_onednn.cpp
              CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${ASSAY_DNNL_INCLUDE} LINK_LIBRARIES ${ASSAY_DNNL_LIBRARY}
              CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  if(NOT ASSAY_HAVE_ONEDNN)
    set(onednn_text "matrix products by oneDNN: ${ASSAY_DNNL_LIBRARY} is not version 2 or 3 with OpenMP")
  endif()
else()
  set(ASSAY_HAVE_ONEDNN OFF)
endif()
assay_feature(onednn "${ASSAY_HAVE_ONEDNN}" "${onednn_text}")
# The real nvml.h: from a toolkit, or from the PyPI wheel that scripts/setup --with cuda puts into build/.
file(GLOB nvml_wheel ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/nvidia/*/include)
find_path(ASSAY_NVML_INCLUDE nvml.h
          HINTS ENV CUDA_PATH /usr/local/cuda/include
          PATHS ${nvml_wheel}
          PATH_SUFFIXES include)
if(ASSAY_NVML_INCLUDE)
  set(ASSAY_HAVE_NVML ON)
endif()
assay_feature(nvml "${ASSAY_HAVE_NVML}" "GPU facts and telemetry by NVML, opened at run time (nvml.h)")

# Workers that come with the libtorch and MPI parts of the suite. AUTO: built when found and when the sources are there. Those
# for GPUs: AssayCuda.cmake.
foreach(part TORCH MPI)
  string(TOLOWER ${part} lower)
  if(EXISTS ${CMAKE_SOURCE_DIR}/harness/device/${lower}.cmake AND NOT ASSAY_${part} STREQUAL "OFF")
    include(${CMAKE_SOURCE_DIR}/harness/device/${lower}.cmake)
  elseif(ASSAY_${part} STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_${part}=ON, but this version of Assay has no ${lower} worker yet; use AUTO or OFF")
  else()
    assay_feature(${lower} OFF "assay-worker-${lower}: not in this version")
  endif()
endforeach()
