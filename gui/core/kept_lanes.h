// How the user has arranged the lanes of timelines, as it is kept between two starts: their height, and the order of
// the lanes of each trace that was arranged, by its path.
#pragma once

#include <QByteArray>
#include <string>
#include <utility>
#include <vector>

#include "gui/core/lane_order.h"

namespace swinscope::gui {

class KeptLanes {
 public:
  static constexpr std::size_t kMostTraces = 10;
  static constexpr std::size_t kMostLanes = 2000;  // of a trace whose order is written

  double scale = 1;  // of the usual height of a lane

  // Of the traces that were arranged the last ten are known; of a path it does not matter how it is written.
  void keep(const std::string& path, LaneOrder order);
  // Null where the user has not arranged the lanes of that trace.
  const LaneOrder* order_of(const std::string& path) const;

  QByteArray to_bytes() const;
  // Bytes that are not those of to_bytes() give the defaults.
  static KeptLanes from_bytes(const QByteArray& bytes);

 private:
  std::vector<std::pair<std::string, LaneOrder>> orders_;  // the latest first
};

}  // namespace swinscope::gui
