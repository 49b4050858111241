// Inserting rows: a prepared INSERT whose columns are bound one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "store/database.h"

namespace swinscope {

// Binds the columns of one row from left to right.
class Binder {
 public:
  explicit Binder(Statement& statement) : statement_(statement) {}

  template <typename T>
  [[gnu::always_inline]] Binder& value(T v) {
    if constexpr (std::is_enum_v<T>) {
      statement_.bind(++index_, static_cast<std::int64_t>(static_cast<std::underlying_type_t<T>>(v)));
    } else {
      statement_.bind(++index_, static_cast<std::int64_t>(v));
    }
    return *this;
  }
  // NULL when equal to `none`.
  template <typename T>
  Binder& optional(T v, T none = {}) {
    if (v == none) {
      statement_.bind_null(++index_);
      return *this;
    }
    return value(v);
  }
  Binder& real(double v) {
    statement_.bind(++index_, v);
    return *this;
  }
  Binder& text(std::string_view v) {
    statement_.bind(++index_, v);
    return *this;
  }
  // NULL when empty.
  Binder& blob(std::string_view bytes) {
    if (bytes.empty()) return null();
    statement_.bind_blob(++index_, bytes);
    return *this;
  }
  Binder& null() {
    statement_.bind_null(++index_);
    return *this;
  }
  void run() { statement_.run(); }

 private:
  Statement& statement_;
  int index_ = 0;
};

// "INSERT INTO table VALUES(?,…)" with `columns` parameters.
inline std::string insert_sql(std::string_view table, int columns) {
  std::string sql = fmt::format("INSERT INTO {} VALUES(?", table);
  for (int i = 1; i < columns; ++i)
    sql += ",?";
  return sql + ")";
}

// A prepared insert, made at first use: a trace has rows in a few of the tables only.
class Insert {
 public:
  Insert(Database& db, std::string_view table, int columns) : Insert(db, insert_sql(table, columns)) {}
  Insert(Database& db, std::string sql) : db_(db), sql_(std::move(sql)) {}
  Binder row() {
    if (!statement_) statement_.emplace(db_.prepare(sql_));
    return Binder(*statement_);
  }

 private:
  Database& db_;
  std::string sql_;
  std::optional<Statement> statement_;
};

}  // namespace swinscope
