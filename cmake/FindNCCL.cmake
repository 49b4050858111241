# NCCL 2.18 or newer (ncclConfig_t with maxCTAs) as NCCL::NCCL. Looked for where NCCL_ROOT or NCCL_HOME say, in the CUDA
# toolkit, and where a distribution puts it.
find_path(
  NCCL_INCLUDE_DIR nccl.h
  HINTS ${NCCL_ROOT} ENV NCCL_ROOT ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS}
  PATH_SUFFIXES include
  DOC "Folder that holds nccl.h")
find_library(
  NCCL_LIBRARY nccl
  HINTS ${NCCL_ROOT} ENV NCCL_ROOT ENV NCCL_HOME ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}
  PATH_SUFFIXES lib lib64
  DOC "NCCL's shared library")
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

if(NCCL_INCLUDE_DIR)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM nccl_version REPLACE ".* ([0-9]+)$" "\\1")
  list(JOIN nccl_version "." NCCL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  NCCL
  REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
  VERSION_VAR NCCL_VERSION
  REASON_FAILURE_MESSAGE "install libnccl-dev, or set NCCL_ROOT to where NCCL lies")

if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  # nccl.h includes the CUDA runtime's headers.
  set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                              "${NCCL_INCLUDE_DIR};${CUDAToolkit_INCLUDE_DIRS}")
endif()
