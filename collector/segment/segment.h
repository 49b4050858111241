// The memory that a recorded program shares with `swinscope record`: one file in a memory file system for each process,
// made at its first event and mapped by both. The program's threads write, `record` reads, and reads on when the
// program is gone, however it ended. Without `record` it is memory of the program alone, read by a thread of the
// library.
//
//   header | table of blocks | registrations | lanes, one for each thread | blocks of events
//
// The file is sparse: memory is taken as it is first written to. Where the memory file system is full that would end
// the program with SIGBUS. So there is a time up to which there is room for certain (`record` looks again and again,
// and moves it on); a program makes no system call then, which it may have forbidden itself. With less room memory is
// taken by MADV_POPULATE_WRITE, which fails instead; without that (Linux before 5.14) a small file is allocated at
// once. A reader trusts nothing in here: every number is checked against what it knows itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace swinscope {

struct ThreadBuffer;

// Kinds of events that were not recorded; counted by the thread, reported by the reader.
enum class DropKind : std::uint8_t {
  kRange,
  kRangeEnd,
  kMark,
  kPayload,
  kText,
  kUnsupported,
  kGraphNode,
  kName,
  kNccl
};
inline constexpr std::size_t kDropKinds = 9;

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kBlockBytes = 64U << 10U;
inline constexpr std::uint32_t kSpareSegments = 4;  // that `record` keeps ready
inline constexpr std::uint32_t kMaxDomains = 256;
inline constexpr std::uint32_t kStringSlots = 16384;  // a power of two

// How much there is of everything. Address space, not memory.
struct SegmentSize {
  std::uint32_t log_bytes = 16U << 20U;
  std::uint32_t lanes = 2048;
  std::uint32_t blocks = 2048;
};

inline constexpr std::int64_t kLittleRoom = 0;

// Numbers of lanes and blocks count from 1 where 0 says that there is none.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what different threads write has cache lines of its own
struct SegmentHeader {
  std::uint64_t magic;
  SegmentSize size;
  std::uint32_t pid;          // in the process's own namespace
  std::uint64_t start_ticks;  // of the process, as /proc says; it names the process together with the id
  std::int64_t start_ns;      // CLOCK_MONOTONIC: times in the trace count from here
  std::int32_t rank;
  std::int32_t world_size;
  std::uint32_t affinity_cores;             // that the process may use; 0: unknown
  std::atomic<std::uint32_t> is_ready;      // everything above, and what the log begins with, is there
  std::atomic<std::uint32_t> has_ended;     // the program went through its destructors
  std::atomic<std::uint32_t> is_closed;     // nobody reads any more
  std::atomic<std::int64_t> room_until_ns;  // CLOCK_MONOTONIC; kLittleRoom: memory has to be taken beforehand
  std::atomic<std::uint32_t> is_full;       // the file has reached its largest size: CUDA need not be recorded any more

  alignas(64) std::atomic<std::uint64_t> free_blocks;  // a stack: changes << 32 | the first block
  std::atomic<std::uint32_t> fresh_blocks;             // never used before: those from here on
  std::atomic<std::uint32_t> taken_blocks;
  alignas(64) std::atomic<std::uint64_t> free_lanes;
  std::atomic<std::uint32_t> used_lanes;
  alignas(64) std::atomic<std::uint32_t> log_used;  // bytes
  std::atomic<std::uint32_t> log_populated;
  std::array<std::atomic<std::uint64_t>, kDropKinds> drops;      // of threads without a lane
  std::array<std::atomic<std::uint32_t>, kMaxDomains> domains;   // where the name is in the log, + 1
  std::array<std::atomic<std::uint32_t>, kStringSlots> strings;  // the same, by hash
};

// 64 KiB of a thread's events, one after the other. A thread fills it, links the next one and never comes back; the
// reader frees it when it has read it.
struct BlockHead {
  std::atomic<std::uint32_t> committed;  // bytes from the beginning of the block
  std::atomic<std::uint32_t> next;       // 0: this is the thread's last one so far
};
inline constexpr std::uint32_t kFirstRecord = 32;
static_assert(sizeof(BlockHead) <= kFirstRecord);

// What is known of a block without touching it.
struct BlockEntry {
  std::atomic<std::uint32_t> next_free;
  std::uint32_t populated;  // bytes of the block that are sure to be there; the program's
};

// Where things are in a mapped segment.
class SegmentView {
 public:
  SegmentView() = default;
  SegmentView(void* memory, const SegmentSize& size) : base_(static_cast<std::byte*>(memory)), size_(size) {}

  static std::size_t bytes_of(const SegmentSize& size);

  // Header and table: what is there from the start.
  static std::size_t head_bytes(const SegmentSize& size) {
    return (sizeof(SegmentHeader) + size.blocks * sizeof(BlockEntry) + kPageBytes - 1) / kPageBytes * kPageBytes;
  }

  explicit operator bool() const { return base_ != nullptr; }
  std::byte* base() const { return base_; }
  const SegmentSize& size() const { return size_; }
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): of a view that is one
  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(base_); }
  // `number` from 1.
  BlockEntry& entry(std::uint32_t number) const {
    return reinterpret_cast<BlockEntry*>(base_ + sizeof(SegmentHeader))[number - 1];
  }
  std::byte* log() const { return base_ + head_bytes(size_); }
  // `index` from 0.
  ThreadBuffer& lane(std::uint32_t index) const {
    return *reinterpret_cast<ThreadBuffer*>(log() + size_.log_bytes + index * kPageBytes);
  }
  std::byte* block(std::uint32_t number) const {
    return log() + size_.log_bytes + std::size_t{size_.lanes} * kPageBytes + std::size_t{number - 1} * kBlockBytes;
  }
  BlockHead& head(std::uint32_t number) const { return *reinterpret_cast<BlockHead*>(block(number)); }

  // The program's: makes sure that a write there does not fail. False when it might.
  bool provide(void* memory, std::size_t bytes) const;
  // Either's: until when there is room in the file system of the path.
  static std::int64_t look_for_room(const char* path);

  // The program's: a block to write to, or 0. A thread that holds `held` blocks that nobody has read yet gets another
  // one while it holds no more than are free, so that one busy thread leaves room for the others.
  std::uint32_t take_block(std::uint32_t held) const;
  // The reader's.
  void free_block(std::uint32_t number) const;

 private:
  std::byte* base_ = nullptr;
  SegmentSize size_;
};

// Takes memory. False where there is none. Leaves errno as it was.
bool populate(void* memory, std::size_t bytes);

// Owns a mapping. The program never destroys its own: threads may emit events to the very end.
class Segment {
 public:
  // Memory of this process alone. Not valid when there is none.
  static Segment anonymous(const SegmentSize& size = SegmentSize());
  // Makes the file, which must not exist, and maps it; no descriptor stays. Not valid where that fails, with `errno`.
  static Segment create(const char* path);
  // The same with a file that was made for it by prepare(), and that nobody else has.
  static Segment take(const char* path);
  // The reader's: a file of full size for take(). False where that is not possible.
  static bool prepare(const std::string& path);
  // The reader's: maps the file. Throws Error when it is no segment.
  static Segment open(const std::string& path);

  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  bool is_valid() const { return static_cast<bool>(view_); }
  const SegmentView& view() const { return view_; }
  SegmentHeader& header() const { return view_.header(); }
  // Never unmaps.
  void keep() { is_kept_ = true; }

 private:
  Segment(void* memory, const SegmentSize& size) : view_(memory, size) {}
  static Segment map(int file, int flags, const SegmentSize& size);

  SegmentView view_;
  bool is_kept_ = false;
};

}  // namespace swinscope
