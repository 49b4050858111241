# Every target of ours is made by one of these functions, so that warnings, sanitizers and include rules are the same.
add_library(swinscope_build INTERFACE)
target_include_directories(swinscope_build INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(
  swinscope_build
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            -Wshadow
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wformat=2
            # GCC 12 sees uninitialized strings inside of every std::variant that holds one.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            # GCC 12 sees overlaps in std::string (its bug 105651) and reads beyond a std::vector that are not there, with
            # -O3.
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-stringop-overread>>)
# Device code may call what is constexpr (the index arithmetic of kernels/window.h). nvcc hands the host half to the C++
# compiler, rewritten, so only the warnings that survive that are asked for.
target_compile_options(swinscope_build INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr
                                                 -Xcompiler=-Wall,-Wextra,-Wno-unused-parameter>)
if(SWINSCOPE_WERROR)
  target_compile_options(swinscope_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
                                                   $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
if(SWINSCOPE_SANITIZE)
  target_compile_options(swinscope_build INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${SWINSCOPE_SANITIZE}
                                                   -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(swinscope_build INTERFACE -fsanitize=${SWINSCOPE_SANITIZE})
endif()
if(SWINSCOPE_FUZZ)
  # Coverage in the libraries too, without libFuzzer's main(): the fuzzer steers by it.
  target_compile_options(swinscope_build INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()

# Code that uses Qt: moc runs where a file needs it, strings are converted visibly, and Qt's keywords stay out of the way.
function(swinscope_use_qt name)
  set_target_properties(${name} PROPERTIES AUTOMOC ON)
  target_compile_definitions(${name} PRIVATE QT_NO_KEYWORDS QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_BYTEARRAY)
endfunction()

# Sources of programs include the same large headers, which take longer to read than the rest takes to compile: ten at a
# time take 123 s of CPU, where one by one they take 258 s. Not with sanitizers, whose build clang-tidy takes its commands from.
function(swinscope_compile_together name)
  if(NOT SWINSCOPE_SANITIZE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  endif()
endfunction()

# swinscope_add_library(<folder> SOURCES ... LINK ... [HOT] [QT] [TOGETHER]): library target `<folder>`, a part of every program
# that is installed; shared where BUILD_SHARED_LIBS says so, as it does for the builds that run tests: 300 programs that each
# hold a copy of the libraries take 12 GB with sanitizers, and most of the time to link. LINK is
# public: what a library may link is the business of cmake/link_table.txt, and the transitive closure is what gets checked.
# HOT: it computes so much that the tests would take too long without optimization; for the rest of a sanitizer build, -O0
# halves the time to compile. QT: it uses Qt. TOGETHER: see swinscope_compile_together.
function(swinscope_add_library name)
  cmake_parse_arguments(ARG "HOT;QT;TOGETHER" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE swinscope_build)
  if(ARG_QT)
    swinscope_use_qt(${name})
  endif()
  if(ARG_TOGETHER)
    swinscope_compile_together(${name})
  endif()
  if(ARG_HOT AND SWINSCOPE_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# swinscope_add_program(<name> SOURCES ... LINK ...): its sources are compiled together. Installed, it finds what lies in the
# folders of cmake/Install.cmake.
function(swinscope_add_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  swinscope_compile_together(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} swinscope_build)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${SWINSCOPE_PROGRAM_RPATH}")
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags) # an RPATH
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# swinscope_add_test(<name> SOURCES ... LINK ... [LABELS ...] [ENVIRONMENT ...] [QT]): a GoogleTest program and its ctest
# entry. QT: it uses Qt, without a display.
function(swinscope_add_test name)
  cmake_parse_arguments(ARG "QT" "" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_QT)
    swinscope_use_qt(${name})
    # What fontconfig and Qt keep until the process ends is not ours to free.
    list(APPEND ARG_ENVIRONMENT QT_QPA_PLATFORM=offscreen LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan_qt.supp)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main swinscope_build)
  target_compile_definitions(${name} PRIVATE SWINSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT "${ARG_ENVIRONMENT}" TIMEOUT 900)
  if(ARG_QT)  # TSan cannot see Qt's locks. The options, like paths, are parted by colons.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
                         TSAN_OPTIONS=path_list_append:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan_qt.supp)
  endif()
endfunction()

# swinscope_add_fuzzer(fuzz_<reader> SOURCES ... LINK ...): a libFuzzer program, made with the fuzz preset only. Its seeds
# are the files of tests/fuzz/corpus/fuzz_<reader>/; scripts/fuzz.sh finds it by its name.
function(swinscope_add_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT name MATCHES "^fuzz_")
    message(FATAL_ERROR "a fuzz target is named fuzz_<reader>, not ${name}")
  endif()
  if(SWINSCOPE_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} swinscope_build)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
