// swinscope-gui: the desktop program. Also renders a page to a file, and runs the benchmark of the timeline engine.
#include <QApplication>
#include <QCommandLineParser>
#include <QRegularExpression>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "gui/core/bench_frames.h"
#include "gui/pages/pages.h"
#include "gui/program/screenshot.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/window_place.h"
#include "gui/window/main_window.h"

namespace swinscope::gui {
namespace {

constexpr int kUsage = 2;

struct Options {
  QStringList runs;
  QString page;
  std::optional<Theme> theme;  // none: as in the settings
  QSize size;
  ScreenshotOptions screenshot;
  QString query;
  bool bench_frames = false;
};

int usage(const QString& what) {
  std::fprintf(stderr, "error: %s\n  hint: `swinscope-gui --help` lists the options\n", qUtf8Printable(what));
  return kUsage;
}

QStringList page_ids() {
  QStringList ids;
  for (const PageInfo& page : all_pages())
    ids << QString::fromUtf8(page.id);
  return ids;
}

void add_options(QCommandLineParser& parser) {
  parser.setApplicationDescription(QStringLiteral("Profiling and scaling analysis for CUDA deep learning"));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("RUN"), QStringLiteral("Traces, run folders, experiments, foreign files"),
                               QStringLiteral("[RUN…]"));
  const auto add = [&](const char* name, const char* help, const char* value = "") {
    parser.addOption({QString::fromUtf8(name), QString::fromUtf8(help), QString::fromUtf8(value)});
  };
  add("page", qPrintable(QStringLiteral("Start with this page: %1").arg(page_ids().join(QStringLiteral(", ")))),
      "NAME");
  add("list-pages", "List the pages with what they show, and quit");
  add("theme", "light, dark or system", "NAME");
  add("size", "Size of the window, such as 1280x720", "WxH");
  add("scale", "Size of a pixel on the screen, such as 2", "FACTOR");
  add("find", "Search the timeline for this name, and show the first hit", "NAME");
  add("query", "Ask this SQL of the first RUN on the page query", "SQL");
  add("screenshot", "Write what the window shows as a PNG file, and quit", "FILE");
  add("bench-frames", "Measure the timeline engine, print the figures as JSON, and quit");
}

// What is wrong with the options; empty when nothing is.
QString read_options(const QCommandLineParser& parser, Options& options) {
  const auto value = [&](const char* name) { return parser.value(QString::fromUtf8(name)); };
  options.runs = parser.positionalArguments();
  options.page = value("page");
  if (!options.page.isEmpty() && find_page(options.page) < 0)
    return QStringLiteral("there is no page '%1'").arg(options.page);
  if (const QString theme = value("theme"); !theme.isEmpty()) {
    options.theme = theme_named(theme);
    if (theme_name(*options.theme) != theme) return QStringLiteral("there is no theme '%1'").arg(theme);
  }
  if (const QString size = value("size"); !size.isEmpty()) {
    const auto match = QRegularExpression(QStringLiteral("^([0-9]{2,5})x([0-9]{2,5})$")).match(size);
    if (!match.hasMatch()) return QStringLiteral("'%1' is no size such as 1280x720").arg(size);
    options.size = {match.captured(1).toInt(), match.captured(2).toInt()};
  }
  options.screenshot.file = value("screenshot");
  options.screenshot.find = value("find");
  options.query = value("query");
  options.bench_frames = parser.isSet(QStringLiteral("bench-frames"));
  if (options.runs.isEmpty() && !options.screenshot.find.isEmpty()) return QStringLiteral("--find needs a RUN");
  if (options.runs.isEmpty() && !options.query.isEmpty()) return QStringLiteral("--query needs a RUN");
  return {};
}

// Qt reads the scale before there is an application that could parse options.
QString set_scale(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray argument(argv[i]);
    QByteArray value;
    if (argument == "--scale" && i + 1 < argc) value = argv[i + 1];
    if (argument.startsWith("--scale=")) value = argument.mid(8);
    if (value.isNull()) continue;
    bool is_number = false;
    const double factor = value.toDouble(&is_number);
    if (!is_number || factor < 0.5 || factor > 8)
      return QStringLiteral("'%1' is no scale from 0.5 to 8").arg(QString::fromUtf8(value));
    qputenv("QT_SCALE_FACTOR", value);
  }
  return {};
}

bool has_option(int argc, char** argv, const char* name) {
  return std::any_of(argv + 1, argv + argc,
                     [&](const char* argument) { return QByteArray(argument).split('=').front() == name; });
}

int list_pages() {
  for (const PageInfo& page : all_pages())
    std::printf("%s\t%s\n", page.id, page.help);
  return 0;
}

// Without a display Qt would end the program with SIGABRT. A picture needs none.
bool has_display(int argc, char** argv) {
  const auto is_set = [](const char* name) { return !qEnvironmentVariableIsEmpty(name); };
  if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM")) return true;
  const auto asks = [&](const char* name) { return has_option(argc, argv, name); };
  if (!asks("--screenshot") && !asks("--help") && !asks("-h") && !asks("--version") && !asks("-v")) return false;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  return true;
}

int run(int argc, char** argv) {
  // These need no display either.
  if (has_option(argc, argv, "--bench-frames")) return run_bench_frames(stdout);
  if (has_option(argc, argv, "--list-pages")) return list_pages();
  if (!has_display(argc, argv)) {
    std::fprintf(stderr,
                 "error: there is no display\n  cause: neither DISPLAY nor WAYLAND_DISPLAY is set\n"
                 "  hint: log in to a desktop or use `ssh -X`; `swinscope report` writes a file instead\n");
    return 1;
  }
  if (const QString problem = set_scale(argc, argv); !problem.isEmpty()) return usage(problem);
  QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  const QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("swinscope"));
  QApplication::setApplicationName(QStringLiteral("swinscope-gui"));
  QApplication::setApplicationVersion(QStringLiteral(SWINSCOPE_VERSION));
  QCommandLineParser parser;
  add_options(parser);
  if (!parser.parse(QApplication::arguments())) return usage(parser.errorText());
  if (parser.isSet(QStringLiteral("help"))) parser.showHelp();
  if (parser.isSet(QStringLiteral("version"))) parser.showVersion();
  Options options;
  if (const QString problem = read_options(parser, options); !problem.isEmpty()) return usage(problem);

  apply_theme(options.theme.value_or(Settings().theme()));
  MainWindow window;
  if (!options.size.isEmpty()) window.resize(options.size);
  if (!options.page.isEmpty()) window.show_page(options.page);
  keep_on_screen(window);
  window.show();
  window.open(options.runs);
  if (!options.query.isEmpty())
    window.show_evidence({options.runs.front(), QStringLiteral("query"), {}, options.query});
  if (options.screenshot.file.isEmpty() && options.screenshot.find.isEmpty()) return QApplication::exec();
  Screenshot screenshot(window, options.screenshot);
  return QApplication::exec();
}

}  // namespace
}  // namespace swinscope::gui

int main(int argc, char** argv) { return swinscope::gui::run(argc, argv); }
