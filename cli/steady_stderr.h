// What this program says must not decide how it ends.
#pragma once

namespace swinscope::cli {

// From now on the standard streams are safe to use, however the program was started:
//   - a stream that is closed is /dev/null for this process alone (programs that it starts find it closed, too), so
//   that
//     no file is opened in its place and gets its text;
//   - writing to stderr never fails, throws or raises SIGPIPE: what a full disk, a closed pipe or a closed terminal
//   does
//     not take is gone, and the program goes on;
//   - names of programs and files, which anybody may have chosen, are shown and do not steer the terminal (printable()
//   of
//     store/utf8.h).
void make_stderr_steady();

}  // namespace swinscope::cli
