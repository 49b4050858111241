#include "collector/injected/session_segment.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/collector_settings.h"
#include "collector/base/environment.h"
#include "collector/base/identity.h"
#include "collector/segment/registration_log.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace swinscope {
namespace {

constexpr std::size_t kMaxPath = SessionFolders::kMaxPath;

// Distinguishes the images of a process that calls exec, and segments of one process.
std::atomic<std::uint32_t> segments_made = 0;
// A child whose environment was cleared belongs to its parent's rank.
std::atomic<std::int32_t> last_rank = -1;
std::atomic<std::int32_t> last_world_size = 0;

void copy_variable(const char* name, std::array<char, kMaxPath>& to) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  const std::size_t length = std::strlen(value);
  if (length < to.size()) std::memcpy(to.data(), value, length + 1);
}

// Without allocating. Returns the bytes read, at most `bytes`.
std::size_t read_file(const char* path, std::byte* to, std::size_t bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(file, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  close(file);
  return done;
}

// Field 22 of /proc/self/stat; the second one, in brackets, may hold anything.
std::uint64_t start_ticks() {
  constexpr int kFieldsAfterName = 20;
  std::array<std::byte, 512> bytes{};
  std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                        read_file("/proc/self/stat", bytes.data(), bytes.size() - 1));
  text.remove_prefix(std::min(text.rfind(')'), text.size()));
  for (int i = 0; i < kFieldsAfterName; ++i)
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return std::strtoull(text.data() == nullptr ? "" : text.data(), nullptr, 10);
}

std::uint32_t affinity_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&cores)) : 0;
}

void set_identity(SegmentHeader& header) {
  const RankIdentity identity = rank_from_environment();
  if (identity.is_given || last_rank.load() < 0) {
    last_rank.store(identity.rank);
    last_world_size.store(identity.world_size);
  }
  header.pid = static_cast<std::uint32_t>(getpid());
  header.start_ticks = start_ticks();
  header.start_ns = monotonic_ns();
  header.rank = last_rank.load();
  header.world_size = last_world_size.load();
  header.affinity_cores = affinity_cores();
}

// Read twice, since threads may have small stacks: to see how long it is, and into its place.
void add_command_line(const RegistrationLog& log) {
  constexpr std::size_t kMost = 64U << 10U;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<std::byte, 256> part{};
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < kMost; size += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = read(file, part.data(), part.size());
  const RegistrationLog::Place place = log.append(LogKind::kCommandLine, 0, 0, size);
  if (place) {
    const ssize_t got = pread(file, place.data(), size, 0);
    if (got == static_cast<ssize_t>(size)) RegistrationLog::publish(place);
  }
  close(file);
}

// Of the one thread that begins.
std::array<char, kMaxPath + 64> path = {};
std::array<char, kMaxPath + 64> spare_path = {};

// Where this process may not make a file of the size: `record` has made some beforehand. `path` is its new name.
Segment take_spare(const SessionFolders& folders) {
  std::array<char, kMaxPath + 64>& spare = spare_path;
  for (std::uint32_t i = 0; i < kSpareSegments; ++i) {
    std::snprintf(spare.data(), spare.size(), "%s/spare%u", folders.rings.data(), i);
    if (rename(spare.data(), path.data()) == 0) return Segment::take(path.data());
  }
  errno = EFBIG;
  return {};
}

}  // namespace

void remember_folders(SessionFolders& folders) noexcept {
  copy_variable(CollectorSettings::kFolder, folders.out);
  copy_variable(CollectorSettings::kRings, folders.rings);
}

Segment make_segment(const SessionFolders& folders) noexcept {
  constexpr int kTries = 100;
  Segment made;
  for (int i = 0; i < kTries; ++i) {
    std::snprintf(path.data(), path.size(), "%s/%d.%lld.%u", folders.rings.data(), static_cast<int>(getpid()),
                  static_cast<long long>(monotonic_ns()), segments_made.fetch_add(1));
    made = Segment::create(path.data());
    if (!made.is_valid() && errno == EFBIG) made = take_spare(folders);
    if (made.is_valid() || errno != EEXIST) break;
  }
  if (made.is_valid()) set_identity(made.header());
  return made;
}

Segment make_private_segment() noexcept {
  Segment made = Segment::anonymous();
  if (made.is_valid() && !populate(made.view().base(), SegmentView::head_bytes(made.view().size()))) return {};
  if (made.is_valid()) set_identity(made.header());
  return made;
}

void tell_why(const SessionFolders& folders, int error) noexcept {
  // The folder of notes has the same name but for its first letter.
  std::snprintf(path.data(), path.size(), "%s/%d.%u", folders.rings.data(), static_cast<int>(getpid()),
                segments_made.fetch_add(1));
  char* const name = std::strrchr(path.data(), '/');
  if (name == nullptr) return;
  *name = '\0';
  char* const folder = std::strrchr(path.data(), '/');
  *name = '/';
  if (folder == nullptr) return;
  folder[1] = 'n';
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%d", error);
  if (symlink(number.data(), path.data()) != 0) return;  // then `record` can only say that it does not know
}

void describe_process(const SegmentView& segment, bool is_new) noexcept {
  if (is_new) {
    const RegistrationLog log(segment);
    add_command_line(log);
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      if (is_listed_variable(text.substr(0, text.find('=')))) log.add_text(LogKind::kVariable, 0, 0, text);
    }
  }
  segment.header().is_ready.store(1, std::memory_order_release);
}

}  // namespace swinscope
