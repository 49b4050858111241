# The headers of cuDNN 9's graph API as CUDNN::headers. Looked for where CUDNN_ROOT or CUDNN_HOME say, in the CUDA toolkit, and
# where a distribution puts them. The library itself is opened at run time: nothing links it.
find_path(
  CUDNN_INCLUDE_DIR cudnn_graph.h
  HINTS ${CUDNN_ROOT} ENV CUDNN_ROOT ENV CUDNN_HOME ${CUDAToolkit_INCLUDE_DIRS}
  PATH_SUFFIXES include
  DOC "Folder that holds cudnn_graph.h")
mark_as_advanced(CUDNN_INCLUDE_DIR)

if(CUDNN_INCLUDE_DIR)
  file(STRINGS ${CUDNN_INCLUDE_DIR}/cudnn_version.h cudnn_version REGEX "#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  list(TRANSFORM cudnn_version REPLACE ".* ([0-9]+)$" "\\1")
  list(JOIN cudnn_version "." CUDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CUDNN
  REQUIRED_VARS CUDNN_INCLUDE_DIR
  VERSION_VAR CUDNN_VERSION
  REASON_FAILURE_MESSAGE "install cudnn9-cuda-13 (or its -dev package), or set CUDNN_ROOT to where cuDNN lies")

if(CUDNN_FOUND AND NOT TARGET CUDNN::headers)
  add_library(CUDNN::headers INTERFACE IMPORTED GLOBAL)
  set_target_properties(CUDNN::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_DIR};${CUDAToolkit_INCLUDE_DIRS}")
endif()
