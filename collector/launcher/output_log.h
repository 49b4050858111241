// Keeps what a program prints: while an OutputLog lives, the standard output of this process, which the commands that
// it starts inherit, is a pseudo-terminal (else a pipe), and a thread writes what comes out of it into a file, with the
// time of each line in a second one.
//
// A pseudo-terminal, because C programs and Python print each line at once on a terminal, and in blocks of kilobytes
// into a pipe: the times of lines would be those of the blocks. It translates nothing, echoes nothing and is nobody's
// controlling terminal.
//
// The format of both files stands in analyzer/facts/output_lines.h, which reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

namespace swinscope {

struct OutputLogOptions {
  std::filesystem::path log;    // made with mode 0600 when the first byte comes; its folder must be there by then
  std::filesystem::path times;  // as the log
  int echo_to = -1;             // file descriptor that gets a copy; -1: none
};

class OutputLog {
 public:
  // Throws Error when there is neither a pseudo-terminal nor a pipe to be had.
  explicit OutputLog(OutputLogOptions options);
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;
  OutputLog(OutputLog&&) = delete;
  OutputLog& operator=(OutputLog&&) = delete;
  // As finish().
  ~OutputLog();

  // Whether programs find a terminal, and so print line by line; else a pipe.
  bool is_terminal() const { return is_terminal_; }

  // Gives this process its standard output back, writes what has come by then, and closes both files, which are there
  // afterwards in any case if their folder is. A process that still holds the program's output loses it. Returns what
  // went wrong with the files, "" if nothing did; the program was not disturbed by it.
  std::string finish();

 private:
  void copy();
  void take(const char* bytes, std::size_t count, std::int64_t now_ns);
  void end_line(std::uint64_t end, std::int64_t now_ns);
  bool open_files();
  void fail(const std::string& what);

  OutputLogOptions options_;
  bool is_terminal_ = false;
  std::int64_t offset_ns_ = 0;  // from CLOCK_MONOTONIC to the time since 1970
  int saved_ = -1;              // the standard output before
  int reading_ = -1;
  int wake_reading_ = -1;
  int wake_writing_ = -1;
  int log_ = -1;
  int times_ = -1;
  std::string problem_;
  std::uint64_t written_ = 0;     // bytes of the log
  std::uint64_t line_begin_ = 0;  // where the line that has not ended begins
  std::string pending_times_;
  std::thread thread_;
};

}  // namespace swinscope
