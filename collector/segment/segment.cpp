#include "collector/segment/segment.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/keep_errno.h"
#include "collector/segment/thread_buffers.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kMagic = 0x3247'4553'4357'5331;  // and the version of the layout
constexpr int kPopulateWrite = 23;                       // MADV_POPULATE_WRITE, younger than some C libraries
constexpr SegmentSize kSmall = {1U << 20U, 256, 128};    // 10 MB, for where address space or the kernel is short

int populate_once(void* memory, std::size_t bytes) {
  constexpr int kTries = 100;
  int code = -1;
  for (int i = 0; i < kTries && code != 0; ++i) {
    code = madvise(memory, bytes, kPopulateWrite);
    if (code != 0 && errno != EINTR && errno != EAGAIN) break;
  }
  return code == 0 ? 0 : errno;
}

rlim_t limit_of(int resource) {
  rlimit limit{};
  return getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Address space that a program has limited itself to is not for us to use up; and beyond the limit of files the kernel
// would not only refuse, but end the program with SIGXFSZ. No blocks: nothing fits.
SegmentSize fitting_size() {
  constexpr std::size_t kShare = 64;
  const rlim_t files = limit_of(RLIMIT_FSIZE);
  SegmentSize size;
  if (limit_of(RLIMIT_AS) >= kShare * SegmentView::bytes_of(size) && files >= SegmentView::bytes_of(size)) return size;
  if (files >= SegmentView::bytes_of(kSmall)) return kSmall;
  size = {256U << 10U, 64, 0};
  const std::size_t rest = SegmentView::bytes_of(size);
  if (files > rest) size.blocks = static_cast<std::uint32_t>((files - rest) / kBlockBytes);
  return size;
}

bool is_plausible(const SegmentSize& size) {
  constexpr std::uint32_t kMost = 1U << 16U;
  constexpr std::uint32_t kMaxLog = 1U << 28U;
  return size.lanes > 0 && size.lanes <= kMost && size.blocks > 0 && size.blocks <= kMost && size.log_bytes > 0 &&
         size.log_bytes <= kMaxLog && size.log_bytes % kPageBytes == 0;
}

void initialize(const SegmentView& view) {
  view.header().size = view.size();
  view.header().magic = kMagic;
}

}  // namespace

bool populate(void* memory, std::size_t bytes) {
  const KeepErrno keep;
  const int code = populate_once(memory, bytes);
  return code == 0 || code == EINVAL;  // EINVAL: an older kernel; the file was allocated as it was made
}

std::size_t SegmentView::bytes_of(const SegmentSize& size) {
  return head_bytes(size) + size.log_bytes + std::size_t{size.lanes} * kPageBytes +
         std::size_t{size.blocks} * kBlockBytes;
}

bool SegmentView::provide(void* memory, std::size_t bytes) const {
  const std::int64_t until_ns = header().room_until_ns.load(std::memory_order_relaxed);
  return until_ns == kLittleRoom ? populate(memory, bytes) : monotonic_ns() < until_ns;
}

std::int64_t SegmentView::look_for_room(const char* path) {
  constexpr std::uint64_t kPlenty = std::uint64_t{2} << 30U;
  constexpr std::int64_t kSureNs = 2'000'000'000;  // nobody fills so much in this time
  struct statvfs info = {};
  const bool has_plenty = statvfs(path, &info) == 0 && std::uint64_t{info.f_bavail} * info.f_frsize >= kPlenty;
  return has_plenty ? monotonic_ns() + kSureNs : kLittleRoom;
}

std::uint32_t SegmentView::take_block(std::uint32_t held) const {
  SegmentHeader& h = header();
  const std::uint32_t taken = h.taken_blocks.load(std::memory_order_relaxed);
  if (taken >= size_.blocks || held > size_.blocks - taken || h.is_closed.load(std::memory_order_relaxed) != 0)
    return 0;
  std::uint64_t first = h.free_blocks.load(std::memory_order_acquire);
  while ((first & 0xFFFFFFFFU) != 0) {
    const auto number = static_cast<std::uint32_t>(first);
    const std::uint64_t next = entry(number).next_free.load(std::memory_order_relaxed);
    const std::uint64_t changed = ((first >> 32U) + 1) << 32U | next;
    if (h.free_blocks.compare_exchange_weak(first, changed, std::memory_order_acq_rel)) {
      h.taken_blocks.fetch_add(1, std::memory_order_relaxed);
      return number;
    }
  }
  const std::uint32_t fresh = h.fresh_blocks.fetch_add(1, std::memory_order_relaxed);
  if (fresh >= size_.blocks) {
    h.fresh_blocks.fetch_sub(1, std::memory_order_relaxed);
    return 0;
  }
  h.taken_blocks.fetch_add(1, std::memory_order_relaxed);
  return fresh + 1;
}

void SegmentView::free_block(std::uint32_t number) const {
  SegmentHeader& h = header();
  std::uint64_t first = h.free_blocks.load(std::memory_order_relaxed);
  std::uint64_t changed = 0;
  do {
    entry(number).next_free.store(static_cast<std::uint32_t>(first), std::memory_order_relaxed);
    changed = ((first >> 32U) + 1) << 32U | number;
  } while (!h.free_blocks.compare_exchange_weak(first, changed, std::memory_order_acq_rel));
  h.taken_blocks.fetch_sub(1, std::memory_order_relaxed);
}

Segment Segment::map(int file, int flags, const SegmentSize& size) {
  void* memory = mmap(nullptr, SegmentView::bytes_of(size), PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? Segment() : Segment(memory, size);
}

Segment Segment::anonymous(const SegmentSize& size) {
  Segment made = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, size);
  if (!made.is_valid()) return made;
  initialize(made.view_);
  made.header().room_until_ns.store(std::numeric_limits<std::int64_t>::max());
  return made;
}

Segment Segment::create(const char* path) {
  SegmentSize size = fitting_size();
  if (size.blocks == 0) {
    errno = EFBIG;
    return {};
  }
  const int file = ::open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return {};
  int code = ftruncate(file, static_cast<off_t>(SegmentView::bytes_of(size))) == 0 ? 0 : errno;
  Segment made;
  if (code == 0) {
    made = map(file, MAP_SHARED, size);
    code = made.is_valid() ? populate_once(made.view_.base(), SegmentView::head_bytes(size)) : errno;
  }
  bool is_allocated = false;
  if (code == EINVAL) {  // an older kernel: take all that there will be now
    made = Segment();
    if (SegmentView::bytes_of(size) > SegmentView::bytes_of(kSmall)) size = kSmall;
    code = ftruncate(file, static_cast<off_t>(SegmentView::bytes_of(size))) == 0 ? 0 : errno;
    if (code == 0) code = posix_fallocate(file, 0, static_cast<off_t>(SegmentView::bytes_of(size)));
    if (code == 0) made = map(file, MAP_SHARED, size);
    if (code == 0 && !made.is_valid()) code = errno;
    is_allocated = code == 0;
  }
  close(file);
  if (code != 0) {
    made = Segment();
    unlink(path);
    errno = code == EFAULT ? ENOSPC : code;
    return {};
  }
  initialize(made.view_);
  made.header().room_until_ns.store(is_allocated ? std::numeric_limits<std::int64_t>::max()
                                                 : SegmentView::look_for_room(path));
  return made;
}

bool Segment::prepare(const std::string& path) {
  if (limit_of(RLIMIT_FSIZE) < SegmentView::bytes_of(SegmentSize())) return false;
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_made = ftruncate(file, static_cast<off_t>(SegmentView::bytes_of(SegmentSize()))) == 0;
  close(file);
  return is_made;
}

Segment Segment::take(const char* path) {
  const SegmentSize size;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  Segment made = map(file, MAP_SHARED, size);
  int code = made.is_valid() ? populate_once(made.view_.base(), SegmentView::head_bytes(size)) : errno;
  close(file);
  if (code == 0) {
    initialize(made.view_);
    made.header().room_until_ns.store(SegmentView::look_for_room(path));
    return made;
  }
  made = Segment();
  unlink(path);
  errno = code == EFAULT ? ENOSPC : code;
  return {};
}

Segment Segment::open(const std::string& path) {
  const auto refuse = [&](const std::string& cause) {
    throw Error(ErrorKind::kInput, path + ": not a recorded process's memory", cause);
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) refuse(std::strerror(errno));
  struct stat info = {};
  SegmentHeader* none = nullptr;
  std::array<std::byte, sizeof(none->magic) + sizeof(SegmentSize)> begin{};
  const bool is_read = fstat(file, &info) == 0 && pread(file, begin.data(), begin.size(), 0) == ssize_t{begin.size()};
  std::uint64_t magic = 0;
  SegmentSize size;
  std::memcpy(&magic, begin.data(), sizeof(magic));
  std::memcpy(&size, begin.data() + sizeof(magic), sizeof(size));
  Segment mapped;
  if (is_read && magic == kMagic && is_plausible(size) &&
      static_cast<std::size_t>(info.st_size) == SegmentView::bytes_of(size))
    mapped = map(file, MAP_SHARED, size);
  close(file);
  if (!mapped.is_valid()) refuse("its head is damaged");
  return mapped;
}

Segment::Segment(Segment&& other) noexcept
    : view_(std::exchange(other.view_, {})), is_kept_(std::exchange(other.is_kept_, false)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(view_, other.view_);
  std::swap(is_kept_, other.is_kept_);
  return *this;
}

Segment::~Segment() {
  if (view_ && !is_kept_) munmap(view_.base(), SegmentView::bytes_of(view_.size()));
}

}  // namespace swinscope
