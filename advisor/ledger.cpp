#include "advisor/ledger.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "store/error.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSchemaOfAnyVersion = "swinscope.ledger/";
constexpr std::string_view kSchema = "swinscope.ledger/1";

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("{}: not a ledger of predictions", source), why,
              "`swinscope advise RUN --apply ID --ledger FILE` writes one");
}

void check_schema(const std::string& schema, const std::string& source) {
  if (schema == kSchema) return;
  const std::string why = fmt::format(R"(its schema is "{}"; this version reads "{}")", schema, kSchema);
  if (!schema.starts_with(kSchemaOfAnyVersion)) refuse(source, why);
  throw Error(ErrorKind::kInput, fmt::format("{}: made by a newer swinscope", source), why,
              "install a newer swinscope");
}

std::int64_t time_in(const Json& entry, const std::string& key, const std::string& source) {
  const Json& value = entry.at(key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    refuse(source, fmt::format("{} is no time in nanoseconds: {}", key, value.dump()));
  return value.get<std::int64_t>();
}

}  // namespace

Ledger Ledger::parse(std::string_view text, const std::string& source) {
  Ledger ledger;
  try {
    const Json json = Json::parse(text);
    check_schema(json.at("schema"), source);
    if (!json.at("predictions").is_array()) refuse(source, "predictions is no array");
    for (const Json& entry : json.at("predictions")) {
      Prediction prediction;
      prediction.label = entry.at("label");
      prediction.made = entry.at("made");
      prediction.run = entry.at("run");
      prediction.gpu = entry.at("gpu");
      prediction.applied = entry.at("applied");
      prediction.step_ns = time_in(entry, "step_ns", source);
      prediction.predicted_ns = {time_in(entry, "predicted_least_ns", source), time_in(entry, "predicted_ns", source),
                                 time_in(entry, "predicted_most_ns", source)};
      ledger.predictions.push_back(std::move(prediction));
    }
  } catch (const Json::exception& error) {
    refuse(source, replace_invalid_utf8(error.what()));  // it cites the bytes
  }
  return ledger;
}

std::string Ledger::text() const {
  Json entries = Json::array();
  for (const Prediction& prediction : predictions) {
    entries.push_back({{"label", prediction.label},
                       {"made", prediction.made},
                       {"run", prediction.run},
                       {"gpu", prediction.gpu},
                       {"applied", prediction.applied},
                       {"step_ns", prediction.step_ns},
                       {"predicted_least_ns", prediction.predicted_ns[0]},
                       {"predicted_ns", prediction.predicted_ns[1]},
                       {"predicted_most_ns", prediction.predicted_ns[2]}});
  }
  const Json json = {{"schema", kSchema}, {"predictions", entries}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // paths may be of any bytes
}

Prediction predict(const RunFacts& run, const Advice& advice, const std::string& label, const std::string& made) {
  if (!advice.joint_step_ns)
    throw Error(ErrorKind::kUsage, "there is nothing to predict", "no change was applied", "give --apply ID");
  Prediction prediction;
  prediction.label = label.empty() ? fmt::format("{}", fmt::join(advice.applied, ",")) : label;
  prediction.made = made;
  prediction.run = run.trace.path;
  for (const Rank& rank : run.trace.ranks)
    if (prediction.gpu.empty() && !rank.run.gpus.empty()) prediction.gpu = rank.run.gpus.front().name;
  prediction.applied = advice.applied;
  prediction.step_ns = advice.step_ns();
  prediction.predicted_ns = *advice.joint_step_ns;
  std::ranges::sort(prediction.predicted_ns);
  return prediction;
}

Table score_table(const Ledger& ledger, std::int64_t measured_step_ns) {
  Table table{"scores",
              "Predictions and what was measured",
              {{"label", "prediction"},
               {"made", "made"},
               {"step_ns", "step before", Unit::kDuration},
               {"predicted_ns", "predicted", Unit::kDuration},
               {"predicted_least_ns", "at least", Unit::kDuration},
               {"predicted_most_ns", "at most", Unit::kDuration},
               {"measured_ns", "measured", Unit::kDuration},
               {"effect_error_percent", "error", Unit::kPercent},
               {"within", "within the interval"}},
              {}};
  for (const Prediction& prediction : ledger.predictions) {
    const auto [least, likely, most] = prediction.predicted_ns;
    const double error = measured_step_ns == 0 ? 0.0
                                               : 100 * static_cast<double>(likely - measured_step_ns) /
                                                     static_cast<double>(measured_step_ns);
    const bool within = measured_step_ns >= least && measured_step_ns <= most;
    table.rows.push_back({prediction.label, prediction.made, prediction.step_ns, likely, least, most, measured_step_ns,
                          error, std::string(within ? "yes" : "no")});
  }
  return table;
}

}  // namespace swinscope
