#include "gui/core/kept_lanes.h"

#include <QDataStream>
#include <QIODevice>
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace swinscope::gui {
namespace {

constexpr quint32 kFormat = 1;
constexpr auto kStream = QDataStream::Qt_6_4;

template <typename Kind>
void read_kind(QDataStream& in, Kind& kind) {
  quint8 number = 0;
  in >> number;
  kind = static_cast<Kind>(number);
}

// Numbers of the settings' types; std::uint64_t is another type than quint64 here and there.
template <typename Number>
void write(QDataStream& out, Number number) {
  out << static_cast<qint64>(number);
}
template <typename Number>
void read(QDataStream& in, Number& number) {
  qint64 stored = 0;
  in >> stored;
  number = static_cast<Number>(stored);
}

QDataStream& operator<<(QDataStream& out, const LaneKey& key) {
  out << static_cast<quint8>(key.kind);
  write(out, key.process), write(out, key.device), write(out, key.context), write(out, key.stream);
  write(out, key.global_tid), write(out, key.domain), write(out, key.depth), write(out, key.sublane);
  return out;
}
QDataStream& operator>>(QDataStream& in, LaneKey& key) {
  read_kind(in, key.kind);
  read(in, key.process), read(in, key.device), read(in, key.context), read(in, key.stream);
  read(in, key.global_tid), read(in, key.domain), read(in, key.depth), read(in, key.sublane);
  return in;
}
QDataStream& operator<<(QDataStream& out, const GroupKey& key) {
  out << static_cast<quint8>(key.kind) << static_cast<quint8>(key.lanes);
  write(out, key.process), write(out, key.device), write(out, key.global_tid);
  return out;
}
QDataStream& operator>>(QDataStream& in, GroupKey& key) {
  read_kind(in, key.kind), read_kind(in, key.lanes);
  read(in, key.process), read(in, key.device), read(in, key.global_tid);
  return in;
}

std::string full_path(const std::string& path) {
  std::error_code none;
  const std::filesystem::path full = std::filesystem::absolute(path, none);
  return none ? path : full.lexically_normal().string();
}

template <typename Key>
void write_keys(QDataStream& out, const std::vector<Key>& keys) {
  out << static_cast<quint32>(keys.size());
  for (const Key& key : keys)
    out << key;
}
template <typename Key>
void read_keys(QDataStream& in, std::vector<Key>& keys) {
  quint32 count = 0;
  in >> count;
  for (quint32 i = 0; i < count && in.status() == QDataStream::Ok; ++i)
    in >> keys.emplace_back();
}

}  // namespace

void KeptLanes::keep(const std::string& path, LaneOrder order) {
  const std::string full = full_path(path);
  std::erase_if(orders_, [&](const auto& known) { return known.first == full; });
  orders_.insert(orders_.begin(), {full, std::move(order)});
  if (orders_.size() > kMostTraces) orders_.pop_back();
}

const LaneOrder* KeptLanes::order_of(const std::string& path) const {
  const auto found = std::ranges::find(orders_, full_path(path), [](const auto& known) { return known.first; });
  return found == orders_.end() ? nullptr : &found->second;
}

QByteArray KeptLanes::to_bytes() const {
  QByteArray bytes;
  QDataStream out(&bytes, QIODevice::WriteOnly);
  out.setVersion(kStream);
  const auto is_short = [](const auto& known) { return known.second.lanes.size() <= kMostLanes; };
  out << kFormat << scale << static_cast<quint32>(std::ranges::count_if(orders_, is_short));
  for (const auto& known : orders_) {
    if (!is_short(known)) continue;
    out << QByteArray::fromStdString(known.first);
    write_keys(out, known.second.lanes);
    write_keys(out, known.second.groups);
  }
  return bytes;
}

KeptLanes KeptLanes::from_bytes(const QByteArray& bytes) {
  KeptLanes kept;
  QDataStream in(bytes);
  in.setVersion(kStream);
  quint32 format = 0;
  quint32 traces = 0;
  in >> format >> kept.scale >> traces;
  for (quint32 i = 0; i < traces && i < kMostTraces && in.status() == QDataStream::Ok; ++i) {
    QByteArray path;
    LaneOrder order;
    in >> path;
    read_keys(in, order.lanes);
    read_keys(in, order.groups);
    kept.orders_.emplace_back(path.toStdString(), std::move(order));
  }
  const bool is_whole = in.status() == QDataStream::Ok && format == kFormat && std::isfinite(kept.scale);
  return is_whole ? kept : KeptLanes();
}

}  // namespace swinscope::gui
