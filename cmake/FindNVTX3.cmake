# The NVTX 3 headers (header-only, with the payload extension) as nvtx3::nvtx3. A CUDA toolkit brings them; without one
# scripts/setup.sh unpacks a pinned package of the headers alone into build/deps/nvtx3.
find_path(
  NVTX3_INCLUDE_DIR nvtx3/nvToolsExtPayload.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS}
  PATHS ${CUDAToolkit_ROOT}/include
        $ENV{CUDA_HOME}/include
        $ENV{CUDA_PATH}/include
        /usr/local/cuda/include
        ${CMAKE_SOURCE_DIR}/build/deps/nvtx3/include
  DOC "Folder that holds nvtx3/nvToolsExt.h and its payload extension")
mark_as_advanced(NVTX3_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  NVTX3
  REQUIRED_VARS NVTX3_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, which fetches the headers, or set NVTX3_INCLUDE_DIR")

if(NVTX3_FOUND AND NOT TARGET nvtx3::nvtx3)
  add_library(nvtx3::nvtx3 INTERFACE IMPORTED GLOBAL)
  # Imported include folders are system ones: the headers' own warnings stay out of our build.
  set_target_properties(nvtx3::nvtx3 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${NVTX3_INCLUDE_DIR}
                                                INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
