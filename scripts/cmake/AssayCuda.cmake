# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# Compiles kernels/*.cu for devices, with warnings as errors: target assay_kernels_cuda13 by nvcc 13, assay_kernels_cuda12 by
# clang 19 with CUDA 12.9 (scripts/cuda12_toolchain), for older drivers and devices. harness/CMakeLists.txt makes a worker of
# each: assay-worker-cuda13 is built with all the rest where there is an nvcc; assay-worker-cuda12 takes long, so it is built
# when it is asked for by name, or with -DASSAY_CUDA12=ON (packages). The tests cuda.build and cuda12.build build them, so ctest
# says how long that takes; that the kernels are right is shown by tests/simt, without a toolkit. A machine without a compiler,
# or with one that can't compile, builds all the rest, and the test is skipped. To leave one out: -DASSAY_CUDA13=OFF,
# -DASSAY_CUDA12=OFF; ON instead of AUTO stops where it can't be built. Another nvcc: CUDACXX=/path/to/nvcc in the environment.
#
# What for: few devices, or with -DASSAY_CUDA_ALL=ON (scripts/test --full, packages) all. "80 90a ptx120": machine code for
# 8.0 and 9.0a, and text for the driver of what comes after 12.0. By name of the file, because some code is for few devices:
#   *_hopper.cu 9.0a, *_blackwell.cu 10.0 and 10.3, *_bulk.cu what is 9.0 or later, all others everything.
option(ASSAY_CUDA_ALL "compile the CUDA kernels for all devices, not a few" OFF)
if(ASSAY_CUDA_ALL)
  set(images13 75 80 86 89 90 100 120 ptx75 ptx120)
  set(images13_blackwell 100a 100f 103a)
  set(images12 70 75 80 86 89 90 ptx90)
else()
  set(images13 80 90a)
  set(images13_blackwell 100f)
  set(images12 80 90)
endif()
set(images13_hopper 90a)
set(images12_hopper 90a)
set(images12_blackwell "")  # clang 19 doesn't know these devices

# What a file is compiled for: of the lists with this prefix.
function(assay_cuda_images source prefix result)
  get_filename_component(name ${source} NAME_WE)
  set(images ${${prefix}})
  if(name MATCHES "_(hopper|blackwell)$")
    set(images ${${prefix}_${CMAKE_MATCH_1}})
  elseif(name MATCHES "_bulk$")
    list(FILTER images INCLUDE REGEX "^(ptx)?(9|1[0-9])[0-9]")
  endif()
  set(${result} ${images} PARENT_SCOPE)
endfunction()

# Whether a worker can be built, as a feature. `reason`: why it can't.
function(assay_cuda_feature part reason text)
  string(TOLOWER ${part} name)
  if(NOT reason)
    assay_feature(${name} ON "assay-worker-${name}: ${text}")
  elseif(ASSAY_${part} STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_${part}=ON, but assay-worker-${name} can't be built: ${reason}; use AUTO or OFF")
  else()
    assay_feature(${name} OFF "assay-worker-${name}: ${reason}")
  endif()
endfunction()

# The test that builds a target, or is skipped with a sentence.
function(assay_cuda_test name target reason fixture)
  if(NOT ASSAY_TESTS)
    return()
  endif()
  if(reason)
    file(WRITE ${CMAKE_BINARY_DIR}/no_${target}.txt "skipped: ${reason}\n")
    add_test(NAME ${name} COMMAND sh -c "cat '${CMAKE_BINARY_DIR}/no_${target}.txt'; exit 77")
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${target})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS simt SKIP_RETURN_CODE 77 TIMEOUT 3000 FIXTURES_SETUP ${fixture})
endfunction()

file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu)

# --- nvcc 13 ------------------------------------------------------------------------------------------------------------
set(ASSAY_NO_NVCC "")  # why the kernels are not compiled with it
find_program(ASSAY_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
set(nvcc ${ASSAY_NVCC})
if(DEFINED ENV{CUDACXX})
  set(nvcc $ENV{CUDACXX})
endif()
if(ASSAY_SANITIZE)
  set(ASSAY_NO_NVCC "sanitizers are on")
elseif(ASSAY_CUDA13 STREQUAL "OFF")
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
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # below, file by file
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    set(ASSAY_NO_NVCC "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 13")
  endif()
endif()

assay_cuda_feature(CUDA13 "${ASSAY_NO_NVCC}" "GPUs from 7.5 on, with drivers from 580 on")
if(NOT ASSAY_NO_NVCC)
  add_library(assay_kernels_cuda13 OBJECT EXCLUDE_FROM_ALL ${cuda_sources})
  set_target_properties(assay_kernels_cuda13 PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  target_include_directories(assay_kernels_cuda13 PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(assay_kernels_cuda13 PRIVATE -O3 -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
  foreach(source IN LISTS cuda_sources)
    assay_cuda_images(${source} images13 images)
    set(codes "")
    foreach(image IN LISTS images)
      if(image MATCHES "^ptx(.*)")
        list(APPEND codes --generate-code=arch=compute_${CMAKE_MATCH_1},code=compute_${CMAKE_MATCH_1})
      else()
        list(APPEND codes --generate-code=arch=compute_${image},code=sm_${image})
      endif()
    endforeach()
    string(REPLACE ";" "_" images "${images}")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${codes}"
                                COMPILE_DEFINITIONS ASSAY_CUDA_IMAGES="${images}")
  endforeach()
  # What scripts/inspect reads.
  file(GENERATE OUTPUT cuda13_objects.txt CONTENT "$<JOIN:$<TARGET_OBJECTS:assay_kernels_cuda13>,\n>\n")
else()
  file(REMOVE ${CMAKE_CURRENT_BINARY_DIR}/cuda13_objects.txt)  # of an earlier configuration
  set(ASSAY_NO_NVCC "${ASSAY_NO_NVCC}, so the CUDA kernels are not compiled by nvcc")
endif()
assay_cuda_test(cuda.build assay-worker-cuda13 "${ASSAY_NO_NVCC}" cuda_kernels)

# --- clang 19 with CUDA 12.9 --------------------------------------------------------------------------------------------
set(ASSAY_NO_CUDA12 "")
set(ASSAY_CUDA12_TOOLKIT ${CMAKE_BINARY_DIR}/cuda12 CACHE PATH "what scripts/cuda12_toolchain made")
find_program(ASSAY_CLANG19 clang++-19)
if(ASSAY_SANITIZE)
  set(ASSAY_NO_CUDA12 "sanitizers are on")
elseif(ASSAY_CUDA12 STREQUAL "OFF")
  set(ASSAY_NO_CUDA12 "this build was configured with ASSAY_CUDA12=OFF")
elseif(NOT ASSAY_CLANG19)
  set(ASSAY_NO_CUDA12 "there is no clang++-19 (scripts/cuda12_toolchain brings it)")
elseif(NOT EXISTS ${ASSAY_CUDA12_TOOLKIT}/assay_stamp)
  set(ASSAY_NO_CUDA12 "there is no CUDA 12.9 for clang in ${ASSAY_CUDA12_TOOLKIT} (scripts/cuda12_toolchain brings it)")
endif()
file(REMOVE ${CMAKE_CURRENT_BINARY_DIR}/cuda12_objects.txt)
set(when12 "built when asked for: --target assay-worker-cuda12")
if(ASSAY_CUDA12 STREQUAL "ON")
  set(when12 "built with the rest")
endif()
assay_cuda_feature(CUDA12 "${ASSAY_NO_CUDA12}" "GPUs from 7.0 to 9.0 and, from text, later ones, with drivers from 525 on (${when12})")
if(NOT ASSAY_NO_CUDA12)
  # Not by CMake's CUDA language: nvcc has that place. -Wno-unused-parameter: what a device lacks uses no parameters. -isystem:
  # clang looks into /usr/local/include before the toolkit, and a toolkit of another version may be there.
  set(clang ${ASSAY_CLANG19} -x cuda -std=c++17 -O3 --cuda-path=${ASSAY_CUDA12_TOOLKIT} --no-cuda-include-ptx=all
            -Wno-unknown-cuda-version -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -I${CMAKE_SOURCE_DIR}
            -isystem ${ASSAY_CUDA12_TOOLKIT}/include)
  set(objects "")
  foreach(source IN LISTS cuda_sources)
    get_filename_component(name ${source} NAME)
    assay_cuda_images(${source} images12 images)
    set(codes "")
    foreach(image IN LISTS images)
      if(image MATCHES "^ptx(.*)")
        list(APPEND codes --cuda-include-ptx=sm_${CMAKE_MATCH_1})
      else()
        list(APPEND codes --cuda-gpu-arch=sm_${image})
      endif()
    endforeach()
    file(STRINGS ${source} unknown REGEX "__grid_constant__")  # clang knows it from 20 on; without it a tensor map is a copy
    if(NOT codes OR unknown)
      continue()
    endif()
    string(REPLACE ";" "_" images "${images}")
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda12/${name}.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d VERBATIM
                       COMMAND ${clang} ${codes} "-DASSAY_CUDA_IMAGES=\"${images}\"" -MD -MF ${object}.d -c ${source} -o ${object}
                       COMMENT "clang 19, CUDA 12.9: kernels/${name} for ${images}")
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda12)
  add_custom_target(assay_kernels_cuda12 DEPENDS ${objects})
  set(ASSAY_CUDA12_OBJECTS ${objects} PARENT_SCOPE)  # for harness/CMakeLists.txt
  string(REPLACE ";" "\n" text "${objects}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/cuda12_objects.txt "${text}\n")
else()
  set(ASSAY_NO_CUDA12 "${ASSAY_NO_CUDA12}, so the CUDA kernels are not compiled for CUDA 12")
endif()
assay_cuda_test(cuda12.build assay-worker-cuda12 "${ASSAY_NO_CUDA12}" cuda12_kernels)
