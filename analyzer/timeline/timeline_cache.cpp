#include "analyzer/timeline/timeline_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "analyzer/timeline/timeline_file.h"
#include "store/database.h"
#include "store/error.h"
#include "store/private_file.h"
#include "store/schema.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSuffix = ".timeline";
constexpr std::uintmax_t kMaxCacheBytes = std::uintmax_t{2} << 30U;

// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : bytes)
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

std::string head_of(const fs::path& file) {
  constexpr std::size_t kHeadBytes = 65'536;
  std::ifstream in(file, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return head;
}

std::string size_and_time(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return {};
  const fs::file_time_type time = fs::last_write_time(file, error);
  if (error) return {};
  return fmt::format("{} bytes, {}", size, time.time_since_epoch().count());
}

fs::path full_path(const fs::path& file) {
  std::error_code error;
  fs::path path = fs::canonical(file, error);
  return error ? file : path;
}

void remove_oldest(const fs::path& folder) {
  std::vector<std::tuple<fs::file_time_type, std::uintmax_t, fs::path>> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code gone;
    if (entry.path().extension() != kSuffix) continue;
    const std::uintmax_t size = entry.file_size(gone);
    const fs::file_time_type time = gone ? fs::file_time_type() : entry.last_write_time(gone);
    if (gone) continue;
    entries.emplace_back(time, size, entry.path());
    total += size;
  }
  std::ranges::sort(entries);
  for (const auto& [time, size, path] : entries) {
    if (total <= kMaxCacheBytes) return;
    fs::remove(path, error);
    total -= size;
  }
}

void write_entry(const fs::path& path, const std::string& identity, const Timeline& timeline,
                 const std::atomic<bool>* cancel) {
  Database db = Database::create(path);
  // A reader sees the file only when it is complete, and who loses it in a crash builds it again.
  db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  db.exec(kSchemaSql);
  write_timeline(db, timeline, identity, cancel);
}

}  // namespace

std::string file_identity(const fs::path& file) {
  const std::string own = size_and_time(file);
  if (own.empty()) return {};
  return fmt::format("{}, {}, {:016x}, log {}", full_path(file).string(), own, hash(head_of(file)),
                     size_and_time(file.string() + "-wal"));
}

fs::path cache_entry(const fs::path& folder, const fs::path& file) {
  return folder / fmt::format("{:016x}{}", hash(full_path(file).string()), kSuffix);
}

void keep_timeline(const fs::path& folder, const fs::path& file, const std::string& identity, const Timeline& timeline,
                   const std::atomic<bool>* cancel) {
  make_private_folder(folder);
  const fs::path entry = cache_entry(folder, file);
  static std::atomic<unsigned> number = 0;
  const fs::path unfinished = fmt::format("{}.{}.{}", entry.string(), getpid(), ++number);
  std::error_code error;
  try {
    write_entry(unfinished, identity, timeline, cancel);
    fs::rename(unfinished, entry);
  } catch (const fs::filesystem_error& failure) {
    fs::remove(unfinished, error);
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", entry.string()), failure.code().message());
  } catch (...) {
    fs::remove(unfinished, error);
    throw;
  }
  remove_oldest(folder);
}

void touch_entry(const fs::path& entry) {
  std::error_code ignored;
  fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
}

}  // namespace swinscope
