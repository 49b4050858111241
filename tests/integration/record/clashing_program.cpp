// A program with an SQLite and an fmt of its own, which are in the way of every library that does not bring its own:
// who calls these functions ends the process.
#include <cstdlib>

#include <nvtx3/nvToolsExt.h>

#define FOREIGN extern "C" __attribute__((visibility("default"), used)) void

FOREIGN sqlite3_open_v2() { std::abort(); }
FOREIGN sqlite3_exec() { std::abort(); }
FOREIGN sqlite3_prepare_v2() { std::abort(); }
FOREIGN sqlite3_step() { std::abort(); }
FOREIGN sqlite3_bind_int64() { std::abort(); }
FOREIGN sqlite3_finalize() { std::abort(); }
// fmt::v9::vformat(string_view, format_args) and fmt::v9::detail::vformat_to<char>(…).
FOREIGN foreign_vformat() __asm__(
    "_ZN3fmt2v97vformatB5cxx11ENS0_17basic_string_viewIcEENS0_17basic_format_argsINS0_20basic_format_contextINS0_"
    "8appenderE"
    "cEEEE");
FOREIGN foreign_vformat() { std::abort(); }
FOREIGN foreign_vformat_to() __asm__(
    "_ZN3fmt2v96detail10vformat_toIcEEvRNS1_6bufferIT_EENS0_17basic_string_viewIS4_EENS0_17basic_format_argsI"
    "NS0_20basic_format_contextINSt11conditionalIXsrSt7is_sameINS0_13type_identityIS4_E4typeEcE5valueENS0_8ap"
    "penderESt20back_insert_iteratorINS3_ISF_EEEE4typeESF_EEEENS1_10locale_refE");
FOREIGN foreign_vformat_to() { std::abort(); }

int main() {
  nvtxRangePushA("work");
  nvtxRangePop();
  return 9;
}
