# A program must start where neither CUDA nor Qt is installed: refuses BINARY when a library of theirs is among those it
# loads, its own or another library's.
#   cmake -DBINARY=<file> -P check_needs.cmake
cmake_minimum_required(VERSION 3.25)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${BINARY} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing)

set(libraries "")
set(forbidden "")
foreach(path IN LISTS found missing)
  cmake_path(GET path FILENAME library)
  list(APPEND libraries ${library})
  if(library MATCHES "^lib(cuda|cudart|cupti|cublas|cublasLt|cudnn|nccl|nvrtc|nvidia-ml|nvToolsExt|Qt[0-9])[^/]*[.]so")
    list(APPEND forbidden ${library})
  endif()
endforeach()
if(forbidden)
  message(FATAL_ERROR "${BINARY} needs ${forbidden}")
elseif(NOT "libc.so.6" IN_LIST libraries)
  message(FATAL_ERROR "${BINARY}: the libraries could not be read; found: ${libraries}")
endif()
message("${BINARY} needs neither CUDA nor Qt: ${libraries}")
