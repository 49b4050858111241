#include "analyzer/export/output.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

Error refuse_existing(const fs::path& path) {
  return {ErrorKind::kUsage,
          fmt::format("{}: the file exists", path.string()),
          {},
          "give another name with -o, or --force to replace it"};
}

// A new file beside the one that it becomes, with the permissions that any new file gets.
int create_part(const fs::path& path, fs::path& part) {
  for (int n = 0; n < 1000; ++n) {
    part = path;
    part += fmt::format(".{}.{}.part", getpid(), n);
    const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// Gives the file its name, unless another one took it meanwhile.
bool rename_new(const fs::path& from, const fs::path& to) {
  // File systems without this flag say so by these errors.
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (access(to.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return false;
  }
  return std::rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

struct ExportOutput::Deflater {
  Deflater() {
    // Level 4: half the time of the usual 6 for a few percent more bytes of such text.
    if (deflateInit2(&stream, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw Error(ErrorKind::kFailure, "the export cannot be compressed", "zlib refused to start", "free some memory");
    }
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  Deflater(Deflater&&) = delete;
  Deflater& operator=(Deflater&&) = delete;

  z_stream stream{};
  std::array<char, 65536> packed{};
};

void ExportOutput::CloseFile::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

ExportOutput::ExportOutput(const fs::path& path, bool force) : path_(path), force_(force) {
  if (path == kStandardOutput) {
    file_.reset(stdout);
    return;
  }
  check_export_file(path, force);
  const int file = create_part(path, part_);
  if (file < 0) {
    const int error = errno;
    part_.clear();
    fail(error);
  }
  file_.reset(fdopen(file, "wb"));
  if (path.extension() == ".gz") deflater_ = std::make_unique<Deflater>();
}

ExportOutput::~ExportOutput() {
  file_.reset();
  if (!part_.empty()) unlink(part_.c_str());
}

void ExportOutput::write(std::string_view bytes) {
  taken_ += bytes.size();
  if (deflater_) {
    deflate(bytes, false);
  } else {
    put(bytes);
  }
}

void ExportOutput::finish() {
  if (deflater_) deflate({}, true);
  if (std::fflush(file_.get()) != 0) fail(errno);
  if (part_.empty()) return;
  if (std::fclose(file_.release()) != 0) fail(errno);
  if (force_ ? std::rename(part_.c_str(), path_.c_str()) == 0 : rename_new(part_, path_)) {
    part_.clear();
    return;
  }
  if (errno == EEXIST) throw refuse_existing(path_);
  fail(errno);
}

void ExportOutput::put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail(errno);
}

void ExportOutput::deflate(std::string_view bytes, bool last) {
  z_stream& stream = deflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(deflater_->packed.data());
    stream.avail_out = static_cast<uInt>(deflater_->packed.size());
    ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    put({deflater_->packed.data(), deflater_->packed.size() - stream.avail_out});
  } while (stream.avail_out == 0);
}

void ExportOutput::fail(int error) const {
  const bool is_stdout = path_ == kStandardOutput;
  throw Error(
      ErrorKind::kFailure,
      is_stdout ? "the standard output cannot be written" : fmt::format("{}: cannot be written", path_.string()),
      std::strerror(error),
      is_stdout ? "check where it is redirected to" : "check the free space and the permissions of its folder");
}

void check_export_file(const fs::path& path, bool force) {
  std::error_code none;
  if (path == kStandardOutput) return;
  if (fs::is_directory(path, none)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: is a folder", path.string()), "this export is one file",
                "give the name of a file with -o");
  }
  if (!force && fs::exists(fs::symlink_status(path, none))) throw refuse_existing(path);
}

void check_export_folder(const fs::path& folder, bool force) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: is a file", folder.string()), "this export is a folder of files",
                "give another name with -o");
  }
  if (fs::is_directory(status) && !force && !fs::is_empty(folder, error)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the folder is not empty", folder.string()), {},
                "give another folder with -o, or --force to replace files of the same names in it");
  }
}

void prepare_export_folder(const fs::path& folder, bool force) {
  check_export_folder(folder, force);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: the folder cannot be created", folder.string()), error.message(),
                "give another folder with -o");
  }
}

}  // namespace swinscope
