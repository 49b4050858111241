// swinscope doctor: what works on this machine, and what to do about the rest. Libraries are only opened, never linked.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include <dlfcn.h>
#include <fmt/format.h>

#include "cli/command.h"
#include "collector/launcher/record.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct Finding {
  std::string what;
  std::string state;  // ok, missing, limited
  std::string detail;
  std::string advice;
};

class Library {
 public:
  explicit Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;
  // Driver libraries start threads and do not like to be unloaded; the process ends soon anyway.
  ~Library() = default;

  explicit operator bool() const { return handle_ != nullptr; }
  template <typename Function>
  Function* find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
};

Finding check_gpus(int& count) {
  const Library cuda{"libcuda.so.1"};
  if (!cuda) {
    return {"NVIDIA driver", "missing", "libcuda.so.1 cannot be opened",
            "for GPU recordings install the NVIDIA driver; analysis and the CPU backend work without"};
  }
  auto* init = cuda.find<int(unsigned)>("cuInit");
  auto* get_count = cuda.find<int(int*)>("cuDeviceGetCount");
  auto* get_version = cuda.find<int(int*)>("cuDriverGetVersion");
  if (init == nullptr || get_count == nullptr || init(0) != 0 || get_count(&count) != 0) {
    return {"NVIDIA driver", "limited", "libcuda.so.1 is there, but no device answers",
            "run nvidia-smi; in a container, start it with GPU access"};
  }
  int version = 0;
  if (get_version != nullptr) get_version(&version);
  return {"NVIDIA driver", "ok", fmt::format("{} GPUs, CUDA {}.{}", count, version / 1000, version % 1000 / 10), ""};
}

std::string gpu_name(int index) {
  const Library cuda{"libcuda.so.1"};
  auto* get_name = cuda.find<int(char*, int, int)>("cuDeviceGetName");
  std::array<char, 128> name{};
  if (get_name == nullptr || get_name(name.data(), static_cast<int>(name.size()), index) != 0) return "unknown";
  return name.data();
}

Finding check_cupti() {
  const Library cupti{"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                      "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so"};
  auto* get_version = cupti.find<int(std::uint32_t*)>("cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0) {
    return {"CUPTI", "missing", "libcupti.so cannot be opened",
            "install the CUDA toolkit, or add the folder of libcupti.so to LD_LIBRARY_PATH"};
  }
  return {"CUPTI", "ok", fmt::format("API version {}", version), ""};
}

Finding check_permission() {
  std::ifstream parameters("/proc/driver/nvidia/params");
  if (!parameters) return {"GPU counters", "missing", "no NVIDIA kernel driver is loaded", ""};
  for (std::string line; std::getline(parameters, line);) {
    if (line.find("RmProfilingAdminOnly: 1") == std::string::npos) continue;
    return {"GPU counters", "limited", "only administrators may sample GPU counters",
            "set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module, or record as root"};
  }
  return {"GPU counters", "ok", "every user may sample GPU counters", ""};
}

Finding check_nccl() {
  const Library nccl{"libnccl.so.2", "libnccl.so"};
  auto* get_version = nccl.find<int(int*)>("ncclGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) {
    return {"NCCL", "missing", "libnccl.so.2 cannot be opened",
            "needed only to train on several GPUs: install libnccl2"};
  }
  return {"NCCL", "ok", fmt::format("version {}.{}.{}", version / 10000, version / 100 % 100, version % 100), ""};
}

Finding check_nvml() {
  const Library nvml{"libnvidia-ml.so.1"};
  if (!nvml) return {"NVML", "missing", "libnvidia-ml.so.1 cannot be opened", "comes with the NVIDIA driver"};
  return {"NVML", "ok", "clocks, power and memory can be sampled", ""};
}

Finding check_collector() {
  try {
    return {"Recording", "ok", find_collector().string(), ""};
  } catch (const Error& error) {
    return {"Recording", "missing", error.what(), error.hint()};
  }
}

// The program is built against Qt; whether it starts here depends on the libraries and a display.
Finding check_gui() {
  const std::filesystem::path gui = gui_program();
  std::error_code error;
  if (!std::filesystem::exists(gui, error)) {
    return {"Desktop program", "missing", "swinscope-gui is not beside this program",
            "install qt6-base-dev, then configure and build again"};
  }
  const Library qt{"libQt6Widgets.so.6"};
  if (!qt) {
    return {"Desktop program", "limited", "libQt6Widgets.so.6 cannot be opened", "install libqt6widgets6"};
  }
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
    return {"Desktop program", "limited", "Qt is there, but there is no display",
            "log in to a desktop, use `ssh -X`, or copy the run to where there is one"};
  }
  return {"Desktop program", "ok", gui.string(), ""};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  findings.push_back({"swinscope", "ok", "version " SWINSCOPE_VERSION ", analysis of traces", ""});
  findings.push_back({"CPU", "ok", fmt::format("{} cores allowed", std::thread::hardware_concurrency()), ""});
  findings.push_back(check_collector());
  int gpus = 0;
  findings.push_back(check_gpus(gpus));
  for (int i = 0; i < gpus; ++i)
    findings.push_back({fmt::format("GPU {}", i), "ok", gpu_name(i), ""});
  findings.push_back(check_cupti());
  findings.push_back(check_permission());
  findings.push_back(check_nvml());
  findings.push_back(check_nccl());
  findings.push_back(check_gui());
  return findings;
}

int run_doctor(const CommonOptions& options) {
  Table table{"findings",
              "What works here",
              {{"what", "what"}, {"state", "state"}, {"detail", "detail"}, {"advice", "advice"}},
              {}};
  for (const Finding& f : examine())
    table.rows.push_back({f.what, f.state, f.detail, f.advice});
  Document document;
  document.schema = "doctor";
  document.tables = {std::move(table)};
  emit(document, options);
  return 0;
}

}  // namespace

void add_doctor(Program& program) {
  auto options = std::make_shared<CommonOptions>();
  Command& command = program.add_command("doctor", "What works on this machine and what to do about the rest");
  options->tables.add_to(command);
  options->add_to(command);
  command.does([options] { return run_doctor(*options); });
}

}  // namespace swinscope::cli
