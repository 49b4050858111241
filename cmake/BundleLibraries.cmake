# An archive that runs from any folder brings the distribution's libraries that its programs need (packaging/bundle.cmake says
# which); a distribution's own package depends on them instead. Two components that `cmake --install` leaves out:
#   libraries          of all programs but the window, for the archive
#   python_libraries   of `swinscope` alone, for the wheel
function(swinscope_bundle component)
  set(files "")
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      list(APPEND files $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  install(CODE "set(SWINSCOPE_BUNDLED [==[${files}]==])
set(SWINSCOPE_MODULE_FOLDER ${SWINSCOPE_MODULE_FOLDER})
set(SWINSCOPE_RUNTIME_FOLDER ${SWINSCOPE_RUNTIME_FOLDER})
set(SWINSCOPE_BUILD_FOLDER [==[${CMAKE_BINARY_DIR}]==])
set(SWINSCOPE_DOC_FOLDER ${CMAKE_INSTALL_DOCDIR})" COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(SCRIPT packaging/bundle.cmake COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

swinscope_bundle(libraries swinscope swin swinscope_gloo)
swinscope_bundle(python_libraries swinscope)
