// What the tests of store/ and analyzer/ share: temporary folders, files, SQL, errors.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/error.h"
#include "tests/unit/store/kept_trace.h"

namespace swinscope::test {

namespace fs = std::filesystem;

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "swinscope-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  TempFolder(TempFolder&&) = delete;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  fs::path operator/(std::string_view name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

inline std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// The names in a folder, sorted.
inline std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// A plain connection, so that the tests do not depend on the wrapper that they test.
// The thread of this process waits in the kernel: asleep, or blocked in a call.
inline bool is_asleep(pid_t tid) {
  std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.size() > name_end + 2 && line[name_end + 2] == 'S';
}

class Sqlite {
 public:
  explicit Sqlite(const fs::path& path) {
    sqlite3* db = nullptr;
    const int code = sqlite3_open(path.c_str(), &db);
    db_.reset(db);
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
  }

  sqlite3* handle() const { return db_.get(); }

  void run(const std::string& sql) {
    if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(db_.get()));
    }
  }

  // All values of the result, row after row, NULL as "NULL".
  std::vector<std::string> values(const std::string& sql) {
    std::vector<std::string> all;
    const auto take = [](void* into, int count, char** texts, char**) {
      for (int i = 0; i < count; ++i) {
        static_cast<std::vector<std::string>*>(into)->emplace_back(texts[i] == nullptr ? "NULL" : texts[i]);
      }
      return 0;
    };
    if (sqlite3_exec(db_.get(), sql.c_str(), take, &all, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(db_.get()));
    }
    return all;
  }
  std::string value(const std::string& sql) {
    const std::vector<std::string> all = values(sql);
    return all.empty() ? "no row" : all.front();
  }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
};

inline fs::path make_database(const fs::path& path, const std::string& sql) {
  Sqlite(path).run(sql);
  return path;
}

// The Error that an action throws; nothing when it throws none (any other exception fails the test by itself).
inline std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Files as somebody without privileges sees them: root may write everywhere.
class Unprivileged {
 public:
  Unprivileged() {
    constexpr uid_t kNobody = 65534;
    if (saved_ == 0 && seteuid(kNobody) != 0) throw std::runtime_error("seteuid failed");
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  Unprivileged(Unprivileged&&) = delete;
  Unprivileged& operator=(Unprivileged&&) = delete;
  ~Unprivileged() {
    if (saved_ == 0 && seteuid(0) != 0) std::abort();
  }

 private:
  uid_t saved_ = geteuid();
};

}  // namespace swinscope::test
