# What is installed and where, beyond the programs themselves (swinscope_add_program and the folders install those). Each file
# belongs to a component, which is a package of its own (cmake/Packages.cmake):
#   swinscope   the program, the collector, documents
#   workloads   `swin` and the module for ranks on CPUs that it opens
#   nccl        its module for several GPUs
#   gui         the desktop program
# Folders say theirs with CMAKE_INSTALL_DEFAULT_COMPONENT_NAME.

# Modules that programs of ours open at run time, found from the program's own place as ../lib/swinscope: one folder, and not the
# one of the architecture that Debian has for libraries of the loader.
set(SWINSCOPE_MODULE_FOLDER lib/swinscope)

# An archive brings the libraries that it needs along (cmake/BundleLibraries.cmake): those of distributions in the folder of the
# modules, the compiler's own in one below it, since the window has to have the machine's, as the machine's Qt does. A program's
# RPATH is searched for what these libraries need, too, which a RUNPATH is not.
set(SWINSCOPE_RUNTIME_FOLDER ${SWINSCOPE_MODULE_FOLDER}/runtime)
set(SWINSCOPE_WINDOW_RPATH "$ORIGIN/../${SWINSCOPE_MODULE_FOLDER}")
set(SWINSCOPE_PROGRAM_RPATH "${SWINSCOPE_WINDOW_RPATH}:$ORIGIN/../${SWINSCOPE_RUNTIME_FOLDER}")

# Called once all programs are known.
function(swinscope_install_documents)
  include(CMakePackageConfigHelpers)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright) # where Debian looks for it
  install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN notes EXCLUDE
                                                                                  PATTERN kernels EXCLUDE
                                                                                  PATTERN experiments EXCLUDE
                                                                                  PATTERN images EXCLUDE
                                                                                  PATTERN man EXCLUDE)
  install(FILES docs/man/swinscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES docs/man/swin.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT workloads)
  # Something to look at first, and the example of the window's start page.
  install(FILES data/swinscope_swin_tiny_graph_1gpu.db DESTINATION ${CMAKE_INSTALL_DATADIR}/swinscope)

  set(package_folder lib/cmake/swinscope)
  configure_package_config_file(
    packaging/swinscopeConfig.cmake.in ${CMAKE_BINARY_DIR}/swinscopeConfig.cmake INSTALL_DESTINATION ${package_folder}
    PATH_VARS SWINSCOPE_MODULE_FOLDER CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/swinscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/swinscopeConfig.cmake ${CMAKE_BINARY_DIR}/swinscopeConfigVersion.cmake
          DESTINATION ${package_folder})

  if(SWINSCOPE_HAVE_GUI)
    set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME gui)
    install(FILES docs/man/swinscope-gui.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES packaging/swinscope-gui.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES packaging/org.swinscope.swinscope.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
    install(FILES packaging/swinscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
  endif()
endfunction()

# The completions of a program, which it writes itself (options/completion.h) when it is installed.
function(swinscope_install_completions program component)
  if(EXISTS /etc/debian_version)
    set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions) # the one that Debian's zsh looks into
  else()
    set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  endif()
  foreach(file bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/${program}
               zsh ${zsh_folder}/_${program}
               fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/${program}.fish)
    if(file MATCHES "^(bash|zsh|fish)$")
      set(shell ${file})
      continue()
    endif()
    get_filename_component(folder ${file} DIRECTORY)
    install(
      CODE "
      set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
      file(MAKE_DIRECTORY \"\${folder}/${folder}\")
      message(STATUS \"Writing: \${folder}/${file}\")
      execute_process(COMMAND \"$<TARGET_FILE:${program}>\" completion ${shell} OUTPUT_FILE \"\${folder}/${file}\"
                      COMMAND_ERROR_IS_FATAL ANY)"
      COMPONENT ${component})
  endforeach()
endfunction()
