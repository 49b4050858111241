#include "analyzer/facts/output_steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/trace/step_rule.h"

namespace swinscope {
namespace {

constexpr std::size_t kFewestIntervals = 3;

// A line that counts.
struct Sample {
  std::int64_t time_ns = 0;
  std::int64_t counter = 0;
};

struct Stream {
  std::vector<ClosedSteps> closed;
  std::int64_t restarts = 0;

  bool counts() const {
    return closed.size() >= kFewestIntervals && static_cast<std::int64_t>(closed.size()) >= 3 * restarts;
  }
  std::int64_t covered_ns() const {
    std::int64_t sum = 0;
    for (const ClosedSteps& steps : closed)
      sum += steps.time.length();
    return sum;
  }
};

// What one rank, as far as the numbers tell, has printed so far.
struct Printer {
  std::int64_t last = 0;
  std::size_t last_line = 0;
  std::size_t pass = 0;  // how often its count began anew
};

// Lines of `ranks` ranks that come into one stream. A line goes on with the count that it is nearest to; where it goes
// on with none, another rank has begun, however far the first one has come by then, or, once all have, a rank's count
// begins anew.
class Printers {
 public:
  explicit Printers(int ranks) : ranks_(static_cast<std::size_t>(std::max(1, ranks))) {}

  // The number of the pass that the next line belongs to.
  std::size_t pass_of(std::int64_t counter) {
    Printer& printer = printer_of(counter);
    printer.last = counter;
    printer.last_line = lines_++;
    return printer.pass;
  }
  // Whether two of them have printed at the same time. Where none have, there is one, and the others are its epochs.
  bool are_several() const { return are_several_; }

 private:
  Printer& printer_of(std::int64_t counter) {
    Printer* nearest = nullptr;
    for (Printer& printer : printers_) {
      if (printer.last < counter && (nearest == nullptr || order(printer) > order(*nearest))) nearest = &printer;
    }
    if (nearest != nullptr) {
      are_several_ |= nearest->last_line + 1 != lines_;
      return *nearest;
    }
    if (printers_.size() < ranks_) return printers_.emplace_back();
    Printer& first = *std::ranges::max_element(printers_, {}, order);
    ++first.pass;
    return first;
  }
  static std::pair<std::int64_t, std::size_t> order(const Printer& printer) {
    return {printer.last, printer.last_line};
  }

  std::size_t ranks_;
  std::vector<Printer> printers_;
  std::size_t lines_ = 0;
  bool are_several_ = false;
};

// A step is closed by the last line with its number.
Stream close_steps(const std::vector<std::map<std::int64_t, std::int64_t>>& passes) {
  Stream stream;
  stream.restarts = std::ssize(passes) - 1;
  for (const auto& pass : passes) {
    const std::pair<const std::int64_t, std::int64_t>* before = nullptr;
    std::int64_t begin_ns = 0;
    for (const auto& mark : pass) {
      const std::int64_t end_ns = std::max(begin_ns, mark.second);
      if (before != nullptr) stream.closed.push_back({{begin_ns, end_ns}, mark.first - before->first});
      before = &mark;
      begin_ns = end_ns;
    }
  }
  return stream;
}

Stream count(const std::vector<Sample>& samples, int ranks) {
  Printers printers(ranks);
  std::vector<std::map<std::int64_t, std::int64_t>> passes;  // when each number was printed last
  for (const Sample& sample : samples) {
    const std::size_t pass = printers.pass_of(sample.counter);
    if (pass >= passes.size()) passes.resize(pass + 1);
    passes[pass][sample.counter] = sample.time_ns;
  }
  return ranks > 1 && !printers.are_several() ? count(samples, 1) : close_steps(passes);
}

// Lines with equal text but for their numbers.
struct Family {
  std::string shown;
  std::vector<const OutputLine*> lines;
  std::vector<std::vector<LineNumber>> numbers;  // of each line; all have as many

  std::size_t fields() const { return numbers.empty() ? 0 : numbers.front().size(); }
  bool all_of_field(std::size_t field, bool LineNumber::*property) const {
    return std::ranges::all_of(numbers, [&](const auto& line) { return line[field].*property; });
  }
};

std::vector<Family> families_of(const std::vector<OutputLine>& lines) {
  std::map<std::string, std::size_t> known;
  std::vector<Family> families;
  for (const OutputLine& line : lines) {
    const auto [entry, is_new] = known.try_emplace(skeleton(line.text), families.size());
    if (is_new) families.push_back({without_numbers(line.text), {}, {}});
    Family& family = families[entry->second];
    family.lines.push_back(&line);
    family.numbers.push_back(numbers_in(line.text));
  }
  return families;
}

// One stream for each value of a field, where these may be the numbers of the ranks: several, each below their count,
// and at work at the same time.
std::vector<Stream> by_label(const Family& family, const std::vector<Sample>& samples, std::size_t label, int ranks) {
  std::map<std::int64_t, std::vector<Sample>> labelled;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t value = family.numbers[i][label].value;
    if (value >= ranks) return {};
    labelled[value].push_back(samples[i]);
  }
  if (labelled.size() < 2) return {};
  std::int64_t last_begin = 0;
  std::int64_t first_end = INT64_MAX;
  std::vector<Stream> streams;
  for (const auto& [value, own] : labelled) {
    last_begin = std::max(last_begin, own.front().time_ns);
    first_end = std::min(first_end, own.back().time_ns);
    streams.push_back(count(own, 1));
    if (!streams.back().counts()) return {};
  }
  return last_begin < first_end ? streams : std::vector<Stream>();
}

// Empty where the samples do not count.
std::vector<Stream> streams_of(const Family& family, const std::vector<Sample>& samples, std::size_t counter,
                               int ranks) {
  for (std::size_t label = 0; label < family.fields() && ranks > 1; ++label) {
    if (label == counter || !family.all_of_field(label, &LineNumber::is_whole)) continue;
    if (auto streams = by_label(family, samples, label, ranks); !streams.empty()) return streams;
  }
  Stream together = count(samples, ranks);
  return together.counts() ? std::vector{std::move(together)} : std::vector<Stream>();
}

// A family whose lines count, by which field.
struct Found {
  const Family* family = nullptr;
  std::size_t counter = 0;
  std::vector<Stream> streams;
  bool names_step = false;
  bool has_total = false;

  std::size_t intervals() const {
    return std::ranges::max_element(streams, {}, [](const Stream& s) { return s.closed.size(); })->closed.size();
  }
  std::int64_t covered_ns() const { return std::ranges::max_element(streams, {}, &Stream::covered_ns)->covered_ns(); }
  std::int64_t median_count() const {
    std::vector<std::int64_t> counts;
    for (const ClosedSteps& steps : streams.front().closed)
      counts.push_back(steps.count);
    std::ranges::sort(counts);
    return quantile(counts, 0.5);
  }
  auto score() const { return std::tuple(names_step, has_total, intervals(), -median_count()); }
};

std::optional<Found> best_counter(const Family& family, int ranks) {
  std::optional<Found> best;
  for (std::size_t field = 0; field < family.fields(); ++field) {
    if (!family.all_of_field(field, &LineNumber::may_count)) continue;
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < family.lines.size(); ++i)
      samples.push_back({family.lines[i]->time_ns, family.numbers[i][field].value});
    Found found{&family, field, streams_of(family, samples, field, ranks),
                family.all_of_field(field, &LineNumber::names_step),
                family.all_of_field(field, &LineNumber::has_total)};
    if (found.streams.empty()) continue;
    if (!best || found.score() > best->score()) best = std::move(found);
  }
  return best;
}

// Lines that came at once, of a buffer or because nobody had time to read them, close their steps together: all are
// over when the last of them comes. What such lines close at the begin of a count took an unknown time.
std::vector<ClosedSteps> without_bursts(const Stream& stream) {
  const std::int64_t mean_ns = stream.covered_ns() / std::max<std::int64_t>(1, std::ssize(stream.closed));
  std::vector<ClosedSteps> closed;
  std::int64_t last_end = -1;
  for (const ClosedSteps& steps : stream.closed) {
    if (steps.time.length() > mean_ns / 100) {
      closed.push_back(steps);
    } else if (!closed.empty() && steps.time.begin_ns == last_end) {
      closed.back().time.end_ns = steps.time.end_ns;
      closed.back().count += steps.count;
    } else {
      continue;
    }
    last_end = steps.time.end_ns;
  }
  return closed;
}

// What stands before a number of each line, or behind the last one, as an expression.
std::string pattern_before(const Family& family, std::size_t field) {
  const auto text_of = [&](std::size_t i) {
    const std::string_view line = family.lines[i]->text;
    const std::size_t begin = field == 0 ? 0 : family.numbers[i][field - 1].end;
    return line.substr(begin, (field < family.fields() ? family.numbers[i][field].begin : line.size()) - begin);
  };
  for (std::size_t i = 1; i < family.lines.size(); ++i) {
    if (text_of(i) != text_of(0)) return "[^0-9]*";  // a progress bar, or numbers that are aligned
  }
  return escaped(text_of(0));
}

// The lines of the family as an expression: their text up to the number that counts, and so much of what stands behind
// it that it says something.
std::string pattern_of(const Family& family, std::size_t counter) {
  constexpr std::string_view kAnyNumber = "[-+.[:alnum:]]+";  // nan is one
  constexpr std::int64_t kEnoughLetters = 4;
  std::string pattern = "^";
  std::int64_t letters = 0;  // behind the counter
  for (std::size_t field = 0; field <= family.fields(); ++field) {
    const std::string text = pattern_before(family, field);
    pattern += text;
    if (field > counter) letters += std::ranges::count_if(text, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (letters >= kEnoughLetters) break;
    if (field == family.fields()) return pattern + "$";
    pattern += field == counter ? "([0-9]+)" : kAnyNumber;
  }
  while (pattern.ends_with(' '))
    pattern.pop_back();
  return pattern;
}

void take_streams(const std::vector<Stream>& streams, OutputSteps& found) {
  for (const Stream& stream : streams) {
    std::vector<ClosedSteps> closed = without_bursts(stream);
    if (closed.size() < kFewestIntervals && found.refusal.empty()) {
      const std::int64_t lines = std::ssize(stream.closed) + 1;
      found.refusal = fmt::format(
          "{} of {} came at once with the line before: the program buffers its output, or its steps are too short to "
          "be "
          "timed by lines",
          lines - 1 - std::ssize(closed), format_counted(lines, "lines"));
    }
    found.restarts = std::max(found.restarts, stream.restarts);
    found.ranks.push_back(std::move(closed));
  }
}

OutputSteps steps_of(const Found& found) {
  OutputSteps steps;
  steps.pattern = pattern_of(*found.family, found.counter);
  steps.shown = found.family->shown;
  steps.lines = static_cast<std::int64_t>(found.family->lines.size());
  take_streams(found.streams, steps);
  return steps;
}

OutputSteps refused(std::string reason) {
  OutputSteps steps;
  steps.refusal = std::move(reason);
  return steps;
}

// By the numbers in the pattern's group.
OutputSteps by_group(const std::vector<OutputLine>& lines, const std::vector<std::int64_t>& counters, int ranks) {
  std::vector<Sample> samples;
  std::vector<OutputLine> counted;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (counters[i] < 0) continue;
    samples.push_back({lines[i].time_ns, counters[i]});
    counted.push_back(lines[i]);
  }
  if (samples.empty()) return refused("the group of the expression holds no number");
  const std::vector<Family> families = families_of(counted);
  Family none;
  const Family& family = families.size() == 1 ? families.front() : none;
  OutputSteps steps;
  steps.shown = families.front().shown;
  steps.lines = static_cast<std::int64_t>(samples.size());
  constexpr auto kNoField = static_cast<std::size_t>(-1);
  take_streams(streams_of(family, samples, kNoField, ranks), steps);
  if (steps.ranks.empty()) {
    steps.refusal = fmt::format("the numbers of {} do not count steps: at least {} must rise one after the other",
                                format_counted(steps.lines, "lines"), kFewestIntervals + 1);
  }
  return steps;
}

// Each line is a step.
OutputSteps by_line(const std::vector<OutputLine>& lines, int ranks) {
  if (ranks > 1) {
    return refused(
        fmt::format("nothing in the lines tells which of them are of one step of {} ranks: put ( ) around the "
                    "number of the step, or let one rank print",
                    ranks));
  }
  std::vector<Sample> samples;
  samples.reserve(lines.size());
  for (const OutputLine& line : lines)
    samples.push_back({line.time_ns, static_cast<std::int64_t>(samples.size())});
  Stream stream = count(samples, 1);
  if (!stream.counts()) {
    return refused(
        fmt::format("of its lines there are {} matching, at least {} are needed", lines.size(), kFewestIntervals + 1));
  }
  OutputSteps steps;
  steps.shown = without_numbers(lines.front().text);
  steps.lines = static_cast<std::int64_t>(lines.size());
  take_streams({std::move(stream)}, steps);
  return steps;
}

}  // namespace

std::int64_t OutputSteps::steps() const {
  std::int64_t most = 0;
  for (const std::vector<ClosedSteps>& rank : ranks) {
    std::int64_t sum = 0;
    for (const ClosedSteps& closed : rank)
      sum += closed.count;
    most = std::max(most, sum);
  }
  return most;
}

OutputSteps find_output_steps(const std::vector<OutputLine>& lines, int ranks) {
  const std::vector<Family> families = families_of(lines);
  std::vector<Found> found;
  for (const Family& family : families) {
    if (auto counter = best_counter(family, ranks)) found.push_back(std::move(*counter));
  }
  if (found.empty()) {
    return refused(lines.empty() ? "it prints no lines"
                                 : fmt::format("no number in the {} that it printed counts up line by line",
                                               format_counted(static_cast<std::int64_t>(lines.size()), "lines")));
  }
  const auto longest = std::ranges::max_element(found, {}, &Found::covered_ns)->covered_ns();
  std::erase_if(found, [&](const Found& one) { return 2 * one.covered_ns() < longest; });
  return steps_of(*std::ranges::max_element(found, {}, &Found::score));
}

OutputSteps output_steps(const std::vector<OutputLine>& lines, const std::string& pattern, int ranks) {
  const LinePattern expression(pattern);
  std::vector<OutputLine> matching;
  std::vector<std::int64_t> counters;
  for (const OutputLine& line : lines) {
    if (const auto number = expression.match(line.text)) {
      matching.push_back(line);
      counters.push_back(*number);
    }
  }
  OutputSteps steps;
  if (matching.empty()) {
    steps = refused(
        fmt::format("none of its {} matches", format_counted(static_cast<std::int64_t>(lines.size()), "lines")));
  } else if (expression.has_group()) {
    steps = by_group(matching, counters, ranks);
  } else {
    steps = find_output_steps(matching, ranks);
    if (steps.ranks.empty()) steps = by_line(matching, ranks);
  }
  steps.pattern = pattern;
  return steps;
}

}  // namespace swinscope
