# Every outside library is found here, once, and only what the distribution packages (scripts/setup.sh installs them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(simdjson REQUIRED) # splits hundreds of MB of trace JSON at memory speed
if(simdjson_VERSION VERSION_LESS 3.0)
  # Asked by find_package, a version would have to have the same minor number: 3.0 of Debian 12 and 3.6 of Ubuntu 24.04 do not.
  message(FATAL_ERROR "simdjson ${simdjson_VERSION} was found, 3.0 or newer is needed\nhint: scripts/setup.sh build")
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal) # inflates compressed traces in less than half of the time of zlib
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2) # regular expressions of users: linear time, whatever the expression
find_package(CLI11 2.1 REQUIRED)
find_package(JPEG REQUIRED) # photographs as input of the workloads
find_package(PNG REQUIRED) # masks with a label for each of their pixels

# CUDA is used where it is found and never installed by us. AUTO looks for nvcc on PATH and in the usual place, and does
# without it when it is too old.
set(SWINSCOPE_HAVE_CUDA OFF)
if(NOT SWINSCOPE_CUDA STREQUAL "OFF")
  find_program(SWINSCOPE_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin)
  set(SWINSCOPE_NVCC_VERSION 0)
  if(SWINSCOPE_NVCC)
    execute_process(COMMAND ${SWINSCOPE_NVCC} --version OUTPUT_VARIABLE nvcc_says)
    if(nvcc_says MATCHES "release ([0-9.]+)")
      set(SWINSCOPE_NVCC_VERSION ${CMAKE_MATCH_1})
    endif()
  endif()
  if(SWINSCOPE_NVCC_VERSION VERSION_GREATER_EQUAL 12.8)
    set(CMAKE_CUDA_COMPILER ${SWINSCOPE_NVCC} CACHE FILEPATH "CUDA compiler")
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real CACHE STRING "GPU architectures")
    endif()
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      # Debian 12's CMake 3.25 does not know how nvcc is told C++20.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit 12.8 REQUIRED)
    set(SWINSCOPE_HAVE_CUDA ON)
  elseif(SWINSCOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SWINSCOPE_CUDA=ON but no nvcc of CUDA 12.8 or newer was found (${SWINSCOPE_NVCC}, version "
                        "${SWINSCOPE_NVCC_VERSION}).\nhint: put a newer nvcc on PATH or set CUDA_HOME; "
                        "or configure with -DSWINSCOPE_CUDA=OFF to build the CPU-only parts")
  endif()
endif()
message(STATUS "swinscope: CUDA parts: ${SWINSCOPE_HAVE_CUDA}")

# The desktop program is built where Qt is found; everything else does without.
set(SWINSCOPE_HAVE_GUI OFF)
if(NOT SWINSCOPE_GUI STREQUAL "OFF")
  find_package(Qt6 6.4 QUIET COMPONENTS Widgets)
  if(TARGET Qt6::Widgets)
    set(SWINSCOPE_HAVE_GUI ON)
  elseif(SWINSCOPE_GUI STREQUAL "ON")
    message(FATAL_ERROR "SWINSCOPE_GUI=ON but Qt 6.4 or newer with Widgets was not found\nhint: install qt6-base-dev or set "
                        "CMAKE_PREFIX_PATH to Qt; or configure with -DSWINSCOPE_GUI=OFF to do without the desktop program")
  endif()
endif()
message(STATUS "swinscope: desktop program: ${SWINSCOPE_HAVE_GUI}")
