// The kinds of columns of which store/tables.h declares the tables. Each says how it is written and read:
//   write(row, record)     gives `row` its value: row.number(), real(), text(), string_id(), text_of_string(), blob()
//   or
//                          null(); row.string(id) is the text of a string
//   read(row, i, record)   takes the value of column `i` of `row` into the record. A record is read by groups of
//   columns
//                          (ReadGroup), so that a column may rely on those of an earlier group.
// `row` is a template parameter: the writer binds the values to a statement, the reader takes them out of one, the
// tests make text of them and make them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "store/read_scope.h"
#include "store/records.h"

namespace swinscope::tables {

enum class ReadGroup {
  kNever,    // written only
  kTimes,    // first: a row without usable times is left out
  kValues,   // then what says whose the record is
  kStrings,  // the strings of the process whose it is
  kName,     // at last: the name of a range, which may hold values of the record
};

// What every column has.
struct ColumnBase {
  static constexpr const char* kParameter = "?";  // how its value stands in an INSERT
  const char* name;
  bool is_required = false;                   // a table without it cannot be read
  ReadScope read_for = ReadScope::kTimeline;  // the narrowest scope that has a use for it
};

// The member at the end of a chain of member pointers.
template <typename Record, typename First, typename... Rest>
constexpr auto& member_of(Record& record, First first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return record.*first;
  } else {
    return member_of(record.*first, rest...);
  }
}

// An integer or an enumeration. What is not there keeps the default of the record; NULL in a column that is required is
// 0.
template <typename... Path>
struct Number : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kValues;
  std::tuple<Path...> path;

  template <typename Record>
  constexpr auto& member(Record& record) const {
    return std::apply(
        [&](auto... steps) -> auto& { return member_of(record, steps...); }, path);
  }
  template <typename Row, typename Record>
  void write(Row& row, const Record& record) const {
    row.number(static_cast<std::int64_t>(member(record)));
  }
  template <typename Row, typename Record>
  void read(const Row& row, int i, Record& record) const {
    using Value = std::remove_reference_t<decltype(member(record))>;
    read_or(row, i, record, is_required ? Value{} : member(record));
  }

 protected:
  template <typename Row, typename Record, typename Value>
  void read_or(const Row& row, int i, Record& record, Value none) const {
    if constexpr (std::is_enum_v<Value>) {
      using Underlying = std::underlying_type_t<Value>;
      member(record) = Value{row.template integer<Underlying>(i, static_cast<Underlying>(none))};
    } else {
      member(record) = row.template integer<Value>(i, none);
    }
  }
};

// A number that is NULL where it is kNone, which is the default of the record.
template <std::int64_t kNone, typename... Path>
struct OptionalNumber : Number<Path...> {
  template <typename Row, typename Record>
  void write(Row& row, const Record& record) const {
    const auto value = static_cast<std::int64_t>(this->member(record));
    if (value == kNone) {
      row.null();
    } else {
      row.number(value);
    }
  }
  template <typename Row, typename Record>
  void read(const Row& row, int i, Record& record) const {
    this->read_or(row, i, record, this->member(record));
  }
};

inline constexpr const char* kOutOfRange = "the time is out of range";

enum class TimeRole { kStart, kEnd, kMoment };

// A time in nanoseconds. kOpenEnd and kUnknownTime, the defaults where a time may be missing, are NULL.
template <typename Member>
struct Time : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kTimes;
  Member member;
  TimeRole role;
  bool is_optional = false;

  template <typename Row, typename Record>
  void write(Row& row, const Record& record) const {
    static_assert(kOpenEnd == kUnknownTime);
    if (is_optional && record.*member == kOpenEnd) {
      row.null();
    } else {
      row.number(record.*member);
    }
  }
  // Why the value cannot be used; nothing when it can.
  template <typename Row, typename Record>
  const char* read(const Row& row, int i, Record& record) const {
    if (!row.is_integer(i)) {
      if (is_optional && row.is_null(i)) return nullptr;
      return role == TimeRole::kStart ? "the start is not an integer"
             : role == TimeRole::kEnd ? "the end is not an integer"
                                      : "the time is not an integer";
    }
    record.*member = row.template integer<std::int64_t>(i, 0);
    return record.*member == kOpenEnd ? kOutOfRange : nullptr;
  }
};

// A string by its id (StringIds.id).
template <typename Member>
struct StringColumn : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kStrings;
  Member member;
  bool is_optional;  // the empty string is written as NULL

  template <typename Row, typename Record>
  void write(Row& row, const Record& record) const {
    if (is_optional && record.*member == kNoString) {
      row.null();
    } else {
      row.string_id(record.*member);
    }
  }
  template <typename Row, typename Record>
  void read(const Row& row, int i, Record& record) const {
    record.*member = row.string_of_id(i);
  }
};

// A text that stands in the row itself.
template <typename Record>
struct Text : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kStrings;
  std::string Record::*member;
  bool is_optional;  // the empty text is written as NULL

  template <typename Row>
  void write(Row& row, const Record& record) const {
    if (is_optional && (record.*member).empty()) {
      row.null();
    } else {
      row.text(record.*member);
    }
  }
  template <typename Row>
  void read(const Row& row, int i, Record& record) const {
    record.*member = row.text(i);
  }
};

// The same, of a string that the record has by its id. The ids of a long recording may be older than what its writer
// remembers, so the file itself is asked for the text.
template <typename Record>
struct TextOfString : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kStrings;
  static constexpr const char* kParameter = "(SELECT value FROM StringIds WHERE id=?)";
  StringId Record::*member;

  template <typename Row>
  void write(Row& row, const Record& record) const {
    row.text_of_string(record.*member);
  }
  template <typename Row>
  void read(const Row& row, int i, Record& record) const {
    record.*member = row.string_of_text(i);
  }
};

// A number that is no member as it stands. NULL is read as 0.
template <typename Record>
struct Computed : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kValues;
  std::int64_t (*get)(const Record&);
  void (*set)(Record&, std::int64_t);

  template <typename Row>
  void write(Row& row, const Record& record) const {
    row.number(get(record));
  }
  template <typename Row>
  void read(const Row& row, int i, Record& record) const {
    set(record, row.template integer<std::int64_t>(i, 0));
  }
};

// A column of Nsight Systems' that always has the same value here: a number, or NULL.
struct Constant : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kNever;
  std::optional<std::int64_t> value;

  template <typename Row, typename Record>
  void write(Row& row, const Record& /*record*/) const {
    if (value) {
      row.number(*value);
    } else {
      row.null();
    }
  }
};

// A column that says again what another one says.
template <typename Column>
struct Repeated : Column {
  static constexpr ReadGroup kGroup = ReadGroup::kNever;
};

template <typename... Path>
constexpr auto number(const char* name, Path... path) {
  return Number<Path...>{{name}, {path...}};
}
template <std::int64_t kNone = 0, typename... Path>
constexpr auto optional(const char* name, Path... path) {
  return OptionalNumber<kNone, Path...>{{{name}, {path...}}};
}
template <typename Member>
constexpr auto start(const char* name, Member member) {
  return Time<Member>{{name}, member, TimeRole::kStart};
}
template <typename Member>
constexpr auto end(const char* name, Member member) {
  return Time<Member>{{name}, member, TimeRole::kEnd};
}
template <typename Member>
constexpr auto open_end(const char* name, Member member) {
  return Time<Member>{{name}, member, TimeRole::kEnd, true};
}
template <typename Member>
constexpr auto moment(const char* name, Member member) {
  return Time<Member>{{name}, member, TimeRole::kMoment};
}
template <typename Member>
constexpr auto optional_moment(const char* name, Member member) {
  return Time<Member>{{name}, member, TimeRole::kMoment, true};
}
template <typename Member>
constexpr auto string(const char* name, Member member) {
  return StringColumn<Member>{{name}, member, false};
}
template <typename Member>
constexpr auto optional_string(const char* name, Member member) {
  return StringColumn<Member>{{name}, member, true};
}
template <typename Record>
constexpr auto text(const char* name, std::string Record::*member) {
  return Text<Record>{{name}, member, false};
}
template <typename Record>
constexpr auto optional_text(const char* name, std::string Record::*member) {
  return Text<Record>{{name}, member, true};
}
template <typename Record>
constexpr auto text(const char* name, StringId Record::*member) {
  return TextOfString<Record>{{name}, member};
}
template <typename Record>
constexpr auto computed(const char* name, std::int64_t (*get)(const Record&), void (*set)(Record&, std::int64_t)) {
  return Computed<Record>{{name}, get, set};
}
constexpr Constant constant(const char* name, std::int64_t value) { return {{name}, value}; }
constexpr Constant always_null(const char* name) { return {{name}, std::nullopt}; }
template <typename Column>
constexpr auto repeated(Column column) {
  return Repeated<Column>{column};
}

// Columns side by side, from left to right.
template <typename... Columns>
constexpr auto columns(Columns... all) {
  return std::tuple(all...);
}
// Columns without which the table cannot be read.
template <typename... Columns>
constexpr auto required(Columns... all) {
  ((all.is_required = true), ...);
  return std::tuple(all...);
}
// Columns that a timeline has no use for.
template <typename... Columns>
constexpr auto details(Columns... all) {
  ((all.read_for = ReadScope::kAnalysis), ...);
  return std::tuple(all...);
}
// Columns that only files have a use for.
template <typename... Columns>
constexpr auto kept(Columns... all) {
  ((all.read_for = ReadScope::kAll), ...);
  return std::tuple(all...);
}

template <typename Columns>
struct Table {
  const char* name;
  const char* record;  // what one row is, in messages
  bool is_replaced;    // a row replaces one with the same primary key
  Columns columns;

  static constexpr std::size_t kColumns = std::tuple_size_v<Columns>;
};

template <typename... Groups>
constexpr auto table(const char* name, const char* record, Groups... groups) {
  auto all = std::tuple_cat(groups...);
  return Table<decltype(all)>{name, record, false, all};
}
template <typename... Groups>
constexpr auto replaced_table(const char* name, const char* record, Groups... groups) {
  auto all = table(name, record, groups...);
  all.is_replaced = true;
  return all;
}

// Calls visit(column) for each column, from left to right.
template <typename Columns, typename Visit>
constexpr void for_each_column(const Table<Columns>& table, Visit visit) {
  std::apply([&](const auto&... columns) { (visit(columns), ...); }, table.columns);
}

// What is read of a table: the columns that the scope has a use for. The columns of a row are numbered accordingly.
template <const auto& kTable, ReadScope kScope>
class Selection {
 public:
  // Calls visit(column, number) for each column that is read, from left to right.
  template <typename Visit>
  static constexpr void for_each(Visit visit) {
    int number = 0;
    for_each_column(kTable, [&]<typename Column>(const Column& column) {
      if constexpr (Column::kGroup != ReadGroup::kNever) {
        if (column.read_for <= kScope) visit(column, number++);
      }
    });
  }

  // Reads the times. Says why one of them cannot be used, nothing when all can.
  template <typename Row, typename Record>
  static const char* read_times(const Row& row, Record& record) {
    const char* fault = nullptr;
    for_each([&]<typename Column>(const Column& column, int number) {
      if constexpr (Column::kGroup == ReadGroup::kTimes) {
        if (fault == nullptr) fault = column.read(row, number, record);
      }
    });
    return fault;
  }

  // Reads the columns of one of the other groups.
  template <ReadGroup kGroup, typename Row, typename Record>
  static void read(const Row& row, Record& record) {
    for_each([&]<typename Column>(const Column& column, int number) {
      if constexpr (Column::kGroup == kGroup) column.read(row, number, record);
    });
  }
};

}  // namespace swinscope::tables
