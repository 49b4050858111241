# Every header and every .cu below ROOT's folders opens with a comment that says what it is:
#   cmake -DROOT=<dir> -DCMAKE_DIR=<cmake/ of the repository> -P check_heads.cmake
# Folders are those of the link table and tests/; the fixtures of house tests are left out.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_DIR}/LinkTable.cmake)
swinscope_read_link_table(${CMAKE_DIR}/link_table.txt)

set(bare "")
set(checked 0)
foreach(folder IN LISTS LINK_FOLDERS ITEMS tests)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cuh ${ROOT}/${folder}/*.cu)
  list(FILTER sources EXCLUDE REGEX "_fixture/")
  foreach(source IN LISTS sources)
    file(READ ${ROOT}/${source} opening LIMIT 4)
    math(EXPR checked "${checked} + 1")
    if(NOT opening MATCHES "^// ")
      string(APPEND bare "  ${source} does not begin with a comment\n")
    endif()
  endforeach()
endforeach()

if(bare)
  message(FATAL_ERROR "say on the first line what the file is for, how it works, which shapes and units it has\n${bare}")
elseif(checked EQUAL 0)
  message(FATAL_ERROR "no header found below ${ROOT}: is ROOT the repository?")
endif()
message("${checked} files begin with a comment")
