# Run at install: copies the libraries that SWINSCOPE_BUNDLED (programs and modules) need beside our modules, with their licences.
# Left to the machine: libc and the loader, which belong together, and CUDA's libraries, which are the machine's own. Qt and the
# graphics below it are not asked for: the window is for desktops, which have them.
file(GET_RUNTIME_DEPENDENCIES RESOLVED_DEPENDENCIES_VAR libraries MODULES ${SWINSCOPE_BUNDLED}
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so"
                         "^lib(cuda|cudart|cublas|cublasLt|cudnn|nccl|cupti|nvidia-ml)[._]")
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# Debian's statement of a library's licence, where this is a Debian.
function(copy_licence library name)
  string(REGEX REPLACE "^/usr/" "/" short "${library}") # dpkg may know it by its place before /usr was merged
  execute_process(COMMAND dpkg-query --search "${library}" "${short}" OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX REPLACE "[:,].*" "" owner "${owner}")
  if(owner AND EXISTS "/usr/share/doc/${owner}/copyright")
    file(COPY_FILE "/usr/share/doc/${owner}/copyright" "${folder}/${SWINSCOPE_DOC_FOLDER}/libraries/${name}.copyright")
  elseif(NOT library MATCHES "^${SWINSCOPE_BUILD_FOLDER}/") # a library of ours, in a build that has them shared
    message(WARNING "no statement of the licence of ${library} was found")
  endif()
endfunction()

file(MAKE_DIRECTORY "${folder}/${SWINSCOPE_RUNTIME_FOLDER}" "${folder}/${SWINSCOPE_DOC_FOLDER}/libraries")
foreach(library IN LISTS libraries)
  # Under the name that is asked for, whatever the file behind it is called.
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" real)
  set(place ${SWINSCOPE_MODULE_FOLDER})
  if(name MATCHES "^lib(stdc\\+\\+|gcc_s)\\.so")
    set(place ${SWINSCOPE_RUNTIME_FOLDER})
  endif()
  message(STATUS "Bundling: ${place}/${name}")
  file(COPY_FILE "${real}" "${folder}/${place}/${name}")
  copy_licence("${real}" "${name}")
endforeach()
