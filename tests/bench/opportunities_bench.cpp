// How long a switch of the Opportunities page takes until the joint step and both pictures are there:
//
//     opportunities_bench TRACE
//
// Each card of the trace is switched on and off once, then all that are usual together.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "analyzer/importers/open.h"
#include "gui/core/opportunities.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

double milliseconds(Opportunities& opportunities, const std::function<void()>& change) {
  QEventLoop loop;
  QObject::connect(&opportunities, &Opportunities::simulated, &loop, &QEventLoop::quit);
  QElapsedTimer timer;
  timer.start();
  change();
  if (!opportunities.is_idle()) loop.exec();
  return static_cast<double>(timer.nsecsElapsed()) * 1e-6;
}

int measure(const char* path) {
  auto run = std::make_shared<OpenedRun>();
  run->path = QString::fromUtf8(path);
  run->trace = std::make_shared<const Trace>(open_trace(path));
  Opportunities opportunities;
  QEventLoop loop;
  QObject::connect(&opportunities, &Opportunities::found, &loop, &QEventLoop::quit);
  opportunities.compute(run, {});
  loop.exec();
  if (opportunities.advice() == nullptr || opportunities.advice()->cards.empty()) {
    fmt::print(stderr, "{}: there are no cards\n", path);
    return EXIT_FAILURE;
  }
  std::vector<double> switches;
  for (std::size_t card = 0; card < opportunities.advice()->cards.size(); ++card)
    for (const bool is_on : {true, false})
      switches.push_back(milliseconds(opportunities, [&] { opportunities.apply(card, is_on); }));
  std::ranges::sort(switches);
  const double all = milliseconds(opportunities, [&] { opportunities.apply_all(); });
  fmt::print("{} switches: median {:.1f} ms, slowest {:.1f} ms; all usual ones together {:.1f} ms\n", switches.size(),
             switches[switches.size() / 2], switches.back(), all);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace swinscope::gui

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  if (argc != 2) {
    fmt::print(stderr, "usage: opportunities_bench TRACE\n");
    return 2;
  }
  try {
    return swinscope::gui::measure(argv[1]);
  } catch (const swinscope::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
