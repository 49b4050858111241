# `cpack -G DEB` and `cpack -G TGZ`, each from one build (scripts/package.sh runs both):
#   swinscope_*.deb            the program and the collector
#   swinscope-workloads_*.deb  `swin`
#   swinscope-nccl_*.deb       with CUDA: its module for several GPUs, the one file that is linked with a library of NVIDIA's
#   swinscope-gui_*.deb        the desktop program
#   swinscope-*.tar.gz         all of it with the libraries that a machine may lack, for any folder
# CUDA's libraries are opened at run time, so the same package serves machines with and without them.
set(CPACK_PACKAGE_NAME swinscope)
set(CPACK_PACKAGE_VENDOR "The swinscope maintainers")
set(CPACK_PACKAGE_CONTACT "The swinscope maintainers <maintainers@swinscope.invalid>" CACHE STRING "Maintainer of packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
string(TOLOWER "${CPACK_PACKAGE_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(components swinscope workloads)
if(SWINSCOPE_HAVE_GUI)
  list(APPEND components gui)
endif()
if(TARGET swinscope_nccl)
  list(APPEND components nccl)
endif()
set(SWINSCOPE_ARCHIVE_COMPONENTS ${components} libraries)
set(CPACK_COMPONENTS_ALL ${SWINSCOPE_ARCHIVE_COMPONENTS})
configure_file(packaging/cpack_project.cmake.in ${CMAKE_BINARY_DIR}/cpack_project.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/cpack_project.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SWINSCOPE_PACKAGE_NAME swinscope)
set(CPACK_DEBIAN_WORKLOADS_PACKAGE_NAME swinscope-workloads)
set(CPACK_DEBIAN_GUI_PACKAGE_NAME swinscope-gui)
set(CPACK_DEBIAN_SWINSCOPE_PACKAGE_SUGGESTS "swinscope-gui, swinscope-workloads")
set(CPACK_DEBIAN_WORKLOADS_PACKAGE_DEPENDS "swinscope (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_GUI_PACKAGE_DEPENDS "swinscope (= ${PROJECT_VERSION})")
# NCCL comes from NVIDIA's own packages or from none, so it is no dependency that must be met.
set(CPACK_DEBIAN_NCCL_PACKAGE_NAME swinscope-nccl)
set(CPACK_DEBIAN_NCCL_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_NCCL_PACKAGE_DEPENDS "swinscope-workloads (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_NCCL_PACKAGE_RECOMMENDS libnccl2)
set(CPACK_DEBIAN_NCCL_DESCRIPTION "several GPUs for the workloads of swinscope
The module by which swin sums up gradients between GPUs with NCCL (libnccl.so.2).")
set(CPACK_DEBIAN_SWINSCOPE_DESCRIPTION
    "profiling and scaling analysis for CUDA deep learning
Records CUDA programs on one or many GPUs, reads traces of the PyTorch profiler and of Nsight Systems, and says where the time goes, how
well a job scales and what to fuse or quantize first. Needs no GPU to analyze.")
set(CPACK_DEBIAN_WORKLOADS_DESCRIPTION
    "Swin Transformer workloads to measure swinscope and machines with
The program swin: inference and training of Swin Transformers, annotated for swinscope.")
set(CPACK_DEBIAN_GUI_DESCRIPTION "desktop program of swinscope
Timeline, tables, charts and opportunities of recordings that swinscope made or reads.")

include(CPack)
