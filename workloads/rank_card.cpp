#include "workloads/rank_card.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include "workloads/error.h"
#include "workloads/whole_number.h"

namespace swinscope {
namespace {

std::string allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return "unknown";
  std::string text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
  }
  return text;
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be written", path.string()), why,
                      "the ranks need a folder that all of them can write: set --run-dir or SWINSCOPE_RUN_DIR");
}

// Others may write the same file at the same time, from another thread or machine.
std::filesystem::path write_beside(const std::filesystem::path& path, const std::string& content) {
  std::random_device random;
  std::filesystem::path partial = fmt::format("{}.{:08x}{:08x}.part", path.string(), random(), random());
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  if (!out) {
    const int reason = errno;
    ::unlink(partial.c_str());
    fail(path, std::strerror(reason));
  }
  return partial;
}

}  // namespace

RankCard make_card(const RankInfo& info, const RankConfiguration& configuration) {
  RankCard card;
  card.rank = info.rank;
  card.size = info.size;
  card.host = host_name();
  card.machine = machine_identity();
  card.process = own_identity();
  card.cpus = allowed_cpus();
  card.gpu = info.gpu;
  card.configuration = configuration;
  return card;
}

std::string describe(const RankCard& card) {
  const std::string gpu = card.gpu.id.empty() ? "" : fmt::format(", GPU {}", card.gpu.index);
  return fmt::format("rank {} of {} (host {}, process {}{})", card.rank, card.size, card.host, card.process.pid, gpu);
}

std::string to_text(const RankCard& card) {
  const nlohmann::json json = {{"rank", card.rank},
                               {"size", card.size},
                               {"host", card.host},
                               {"machine", card.machine},
                               {"pid", card.process.pid},
                               {"start_ticks", card.process.start_ticks},
                               {"cpus", card.cpus},
                               {"configuration", card.configuration},
                               {"gpu", card.gpu.id},
                               {"gpu_index", card.gpu.index},
                               {"accessible_gpus", card.gpu.accessible},
                               {"all_reduce", card.gpu.all_reduce}};
  return json.dump();
}

std::optional<RankCard> parse_card(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    RankCard card;
    card.rank = whole_number<int>(json.at("rank"));
    card.size = whole_number<int>(json.at("size"));
    card.host = json.at("host").get<std::string>();
    card.machine = json.at("machine").get<std::string>();
    card.process.pid = whole_number<std::int64_t>(json.at("pid"));
    card.process.start_ticks = whole_number<std::uint64_t>(json.at("start_ticks"));
    card.cpus = json.at("cpus").get<std::string>();
    card.gpu.index = whole_number<int>(json.at("gpu_index"));
    card.gpu.id = json.at("gpu").get<std::string>();
    card.gpu.accessible = json.at("accessible_gpus").get<std::vector<std::string>>();
    card.gpu.all_reduce = json.at("all_reduce").get<std::string>();
    card.configuration = json.at("configuration").get<RankConfiguration>();
    return card;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void write_file_atomically(const std::filesystem::path& path, const std::string& content) {
  const std::filesystem::path partial = write_beside(path, content);
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (!error) return;
  ::unlink(partial.c_str());
  fail(path, error.message());
}

bool write_new_file(const std::filesystem::path& path, const std::string& content) {
  const std::filesystem::path partial = write_beside(path, content);
  const bool made = ::link(partial.c_str(), path.c_str()) == 0;
  const int reason = errno;
  ::unlink(partial.c_str());
  if (!made && reason != EEXIST) fail(path, std::strerror(reason));
  return made;
}

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return std::nullopt;
  return text;
}

}  // namespace swinscope
