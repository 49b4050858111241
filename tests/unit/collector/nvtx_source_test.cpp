// From the callbacks' side of the ring to the rows of the file.
#include "collector/nvtx/nvtx_source.h"

#include <array>
#include <bit>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/nvtx/nvtx_emitter.h"
#include "tests/unit/collector/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NvtxSource, PushesAndPopsBecomeNestedRanges) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(7);
  const auto push = [&](const char* name) { return Emitter(thread, bench.registry).push(0, test::text_details(name)); };
  const auto pop = [&] { return Emitter(thread, bench.registry).pop(0); };
  EXPECT_EQ(push("outer"), 0);
  EXPECT_EQ(push("first"), 1);
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(push("second"), 1);
  EXPECT_EQ(push("deep"), 2);
  EXPECT_EQ(pop(), 2);
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(pop(), 0);
  EXPECT_EQ(pop(), -1);
  EXPECT_THAT(bench.ranges(), ElementsAre("outer", "first", "second", "deep"));
  EXPECT_EQ(bench.row("SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b ON a.start < b.start AND b.end < a.end"),
            "4");
  EXPECT_EQ(bench.row("SELECT DISTINCT globalTid FROM NVTX_EVENTS"), std::to_string(make_global_tid(test::kPid, 7)));
}

TEST(NvtxSource, DomainsHaveStacksOfTheirOwn) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  const std::uint32_t a = bench.registry.add_domain("a");
  const std::uint32_t b = bench.registry.add_domain("b");
  EXPECT_EQ(bench.registry.add_domain("a"), a);  // another client library's copy
  Emitter(thread, bench.registry).push(a, test::text_details("in a"));
  Emitter(thread, bench.registry).push(b, test::text_details("in b"));
  EXPECT_EQ(Emitter(thread, bench.registry).pop(a), 0);
  EXPECT_EQ(Emitter(thread, bench.registry).pop(b), 0);
  EXPECT_THAT(bench.ranges(), ElementsAre("in a", "in b"));
  EXPECT_THAT(bench.rows("SELECT domainId, value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n "
                         "LEFT JOIN StringIds s ON s.id = n.textId) WHERE eventType = 75"),
              ElementsAre(std::to_string(a), "a", std::to_string(b), "b"));
}

// A struct of 24 bytes like NCCL's: its schema is a row with four entries, and the event has the bytes behind a head of
// four numbers (domain, schema, 24, 32). The end of the second range brings another value of it, and a number of 4
// bytes (int32): two heads (64 bytes), 24 and 4 bytes.
TEST(NvtxSource, PayloadsAreKeptAsTheyWereGiven) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  const std::uint32_t domain = bench.registry.add_domain("NCCL");
  std::array<nvtxPayloadSchemaEntry_t, 4> entries = {};
  const std::array<const char*, 4> names = {"communicator", "ranks", "rank", "device"};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].type = i == 0 ? NVTX_PAYLOAD_ENTRY_TYPE_UINT64 : NVTX_PAYLOAD_ENTRY_TYPE_INT32;
    entries[i].name = names[i];
  }
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  attributes.name = "init";
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries.data();
  attributes.numEntries = entries.size();
  const std::uint64_t schema = bench.registry.add_schema(domain, attributes);
  struct Init {
    std::uint64_t communicator;
    std::int32_t ranks, rank, device, padding;
  };
  const Init init = {0x1122334455667788, 4, 2, 3, 0};
  const Init later = {5, 6, 7, 8, 0};
  const std::int32_t number = 9;
  const std::array<nvtxPayloadData_t, 2> payloads = {
      {{schema, sizeof(init), &init}, {NVTX_PAYLOAD_ENTRY_TYPE_INT32, sizeof(number), &number}}};
  EventDetails details = test::text_details("a");
  details.payloads = payloads.data();
  details.payload_count = 1;
  Emitter(thread, bench.registry).push(domain, details);
  Emitter(thread, bench.registry).pop(domain);
  Emitter(thread, bench.registry).push(domain, test::text_details("b"));
  std::array<nvtxPayloadData_t, 2> more = payloads;
  more[0].payload = &later;
  Emitter(thread, bench.registry).pop(domain, more.data(), more.size());
  bench.poll();
  bench.flush();

  EXPECT_THAT(bench.rows("SELECT domainId, schemaId, name, type, numEntries, payloadSize FROM NVTX_PAYLOAD_SCHEMAS"),
              ElementsAre(std::to_string(domain), std::to_string(schema), "init", "1", "4", "24"));
  EXPECT_THAT(bench.rows("SELECT idx, type, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY idx"),
              ElementsAre("0", "18", "communicator", "0", "1", "15", "ranks", "8", "2", "15", "rank", "12", "3", "15",
                          "device", "16"));
  const auto hex = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      text += fmt::format("{:02X}", value >> (8 * i) & 0xFFU);
    return text;
  };
  EXPECT_EQ(bench.row("SELECT hex(binaryData) FROM NVTX_EVENTS WHERE text = 'a'"),
            hex(domain, 8) + hex(schema, 8) + hex(24, 8) + hex(32, 8) + "8877665544332211" + hex(4, 4) + hex(2, 4) +
                hex(3, 4) + hex(0, 4));
  EXPECT_EQ(bench.row("SELECT hex(binaryData) FROM NVTX_EVENTS WHERE text = 'b'"),
            hex(domain, 8) + hex(schema, 8) + hex(24, 8) + hex(64, 8) + hex(domain, 8) +
                hex(NVTX_PAYLOAD_ENTRY_TYPE_INT32, 8) + hex(4, 8) + hex(88, 8) + hex(5, 8) + hex(6, 4) + hex(7, 4) +
                hex(8, 4) + hex(0, 4) + hex(9, 4));
  EXPECT_EQ(bench.row("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75 AND binaryData IS NOT NULL"), "0");
}

TEST(NvtxSource, AttributesReachTheirColumns) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  bench.registry.name_category(0, 9, "copies");
  nvtxEventAttributes_t attributes{};
  attributes.category = 9;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xFF112233;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = handle_of<nvtxStringHandle_t>(bench.registry.add_string("registered"));
  struct Value {
    std::int32_t type;
    std::uint64_t bits;
    const char* column;
    const char* text;
  };
  const std::vector<Value> values = {
      {NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, ~std::uint64_t{0}, "uint64Value", "-1"},
      {NVTX_PAYLOAD_TYPE_INT64, static_cast<std::uint64_t>(-42), "int64Value", "-42"},
      {NVTX_PAYLOAD_TYPE_DOUBLE, std::bit_cast<std::uint64_t>(0.5), "doubleValue", "0.5"},
      {NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, 0xFFFFFFFF, "uint32Value", "4294967295"},
      {NVTX_PAYLOAD_TYPE_INT32, 0xFFFFFFFF, "int32Value", "-1"},
      {NVTX_PAYLOAD_TYPE_FLOAT, std::bit_cast<std::uint32_t>(-2.25F), "floatValue", "-2.25"},
  };
  for (const Value& value : values) {
    attributes.payloadType = value.type;
    attributes.payload.ullValue = value.bits;
    Emitter(thread, bench.registry).mark(0, details_of(&attributes));
  }
  bench.poll();
  bench.flush();
  for (const Value& value : values) {
    EXPECT_THAT(bench.rows(fmt::format("SELECT {0} FROM NVTX_EVENTS WHERE {0} IS NOT NULL", value.column)),
                ElementsAre(value.text));
  }
  EXPECT_THAT(bench.rows("SELECT DISTINCT eventType, category, color, value FROM (SELECT n.*, coalesce(text, s.value) "
                         "AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) "
                         "WHERE eventType = 34"),
              ElementsAre("34", "9", std::to_string(0xFF112233), "registered"));
  EXPECT_THAT(bench.rows("SELECT category, value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n "
                         "LEFT JOIN StringIds s ON s.id = n.textId) WHERE eventType = 33"),
              ElementsAre("9", "copies"));
}

TEST(NvtxSource, WideAndBrokenTextsAreStoredAsUtf8) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  EventDetails wide;
  wide.wide_text = L"größe \U0001F600";
  Emitter(thread, bench.registry).mark(0, wide);
  Emitter(thread, bench.registry).mark(0, test::text_details("caf\xE9"));
  Emitter(thread, bench.registry).mark(0, {});
  bench.poll();
  bench.flush();
  EXPECT_THAT(bench.rows("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                         "StringIds s ON s.id = n.textId) ORDER BY start"),
              ElementsAre("gr\u00F6\u00DFe \U0001F600", "caf\uFFFD", ""));
}

TEST(NvtxSource, ALongNameIsCutAndCounted) {
  test::Bench bench;
  const std::string name(kMaxTextBytes + 10, 'x');
  Emitter(bench.thread(1), bench.registry).mark(0, test::text_details(name.c_str()));
  bench.poll();
  bench.flush();
  EXPECT_EQ(bench.row("SELECT length(value) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT "
                      "JOIN StringIds s ON s.id = n.textId)"),
            std::to_string(kMaxTextBytes));
  EXPECT_EQ(bench.dropped("NVTX name"), 1);
}

TEST(NvtxSource, ARangeMayEndOnAnotherThread) {
  test::Bench bench;
  ThreadBuffer& one = bench.thread(1);
  ThreadBuffer& two = bench.thread(2);
  const std::uint64_t id = Emitter(one, bench.registry).start(0, test::text_details("moved"), 0);
  EXPECT_NE(id, 0U);
  Emitter(two, bench.registry).end(0, id);
  EXPECT_THAT(bench.ranges(), ElementsAre("moved"));
  EXPECT_THAT(
      bench.rows("SELECT globalTid, endGlobalTid, rangeId FROM NVTX_EVENTS"),
      ElementsAre(std::to_string(make_global_tid(test::kPid, 1)), std::to_string(make_global_tid(test::kPid, 2)),
                  std::to_string(static_cast<std::int64_t>(id))));
}

TEST(NvtxSource, AnEndThatIsReadBeforeItsStartWaitsForIt) {
  test::Bench bench;
  ThreadBuffer& early = bench.thread(2);  // lanes are read from the oldest to the newest
  ThreadBuffer& late = bench.thread(1);
  const std::uint64_t id = Emitter(late, bench.registry).start(0, test::text_details("crossing"), 0);
  Emitter(early, bench.registry).end(0, id);
  EXPECT_THAT(bench.ranges(), ElementsAre("crossing"));
  // An end without any start is forgotten after a pass.
  Emitter(early, bench.registry).end(0, id + 1);
  bench.poll();
  bench.poll();
  EXPECT_THAT(bench.ranges(), ElementsAre("crossing"));
}

TEST(NvtxSource, RangesThatAreOpenAtACommitAreInTheFileAndGetTheirEndLater) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  Emitter(thread, bench.registry).push(0, test::text_details("epoch"));
  const std::uint64_t id = Emitter(thread, bench.registry).start(0, test::text_details("async"), 0);
  EXPECT_THAT(bench.ranges(), ElementsAre("epoch (open)", "async (open)"));
  EXPECT_THAT(bench.ranges(), ElementsAre("epoch (open)", "async (open)"));  // once only
  Emitter(thread, bench.registry).end(0, id);
  Emitter(thread, bench.registry).pop(0);
  EXPECT_THAT(bench.ranges(), ElementsAre("epoch", "async"));
}

TEST(NvtxSource, AnEndingThreadLeavesItsOpenRangesOpen) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  Emitter(thread, bench.registry).push(0, test::text_details("abandoned"));
  bench.buffers.abandon(thread);
  EXPECT_THAT(bench.ranges(), ElementsAre("abandoned (open)"));
  ThreadBuffer& next = bench.thread(2);
  EXPECT_EQ(&next, &thread);
  Emitter(next, bench.registry).pop(0);  // not its own
  Emitter(next, bench.registry).push(0, test::text_details("fresh"));
  Emitter(next, bench.registry).pop(0);
  EXPECT_THAT(bench.ranges(), ElementsAre("abandoned (open)", "fresh"));
}

TEST(NvtxSource, WhenABufferIsFullRangesAreRecordedWholeOrNotAtAll) {
  test::Bench bench(2);
  ThreadBuffer& thread = bench.thread(1);
  constexpr int kEmitted = 3000;
  for (int i = 0; i < kEmitted; ++i) {
    Emitter(thread, bench.registry).push(0, test::text_details("outer"));
    Emitter(thread, bench.registry).push(0, test::text_details("inner"));
    Emitter(thread, bench.registry).pop(0);
    Emitter(thread, bench.registry).pop(0);
    if (i % 700 == 699) bench.poll();
  }
  const std::vector<std::string> ranges = bench.ranges();
  for (const std::string& range : ranges)
    EXPECT_THAT(range, ::testing::AnyOf("outer", "inner"));
  EXPECT_GT(ranges.size(), 100U);
  EXPECT_LT(ranges.size(), 2U * kEmitted);
  EXPECT_EQ(static_cast<std::int64_t>(ranges.size()) + bench.dropped("NVTX range"), 2 * kEmitted);
  EXPECT_EQ(bench.dropped("NVTX range end"), 0);
  // Nesting survived: no range overlaps another one partly.
  EXPECT_EQ(
      bench.row("SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b ON a.start < b.start AND b.start < a.end AND "
                "a.end < b.end WHERE a.eventType = 59 AND b.eventType = 59"),
      "0");
}

TEST(NvtxSource, DeepBelowTheTrackedLevelsALostEndLeavesTheOthersRight) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  constexpr int kDepth = 100;
  for (int i = 0; i < kDepth; ++i)
    Emitter(thread, bench.registry).push(0, test::text_details(std::to_string(i).c_str()));
  for (int i = kDepth; i-- > 0;)
    EXPECT_EQ(Emitter(thread, bench.registry).pop(0), i);
  const std::vector<std::string> ranges = bench.ranges();
  ASSERT_EQ(ranges.size(), static_cast<std::size_t>(kDepth));
  for (int i = 0; i < kDepth; ++i)
    EXPECT_EQ(ranges[static_cast<std::size_t>(i)], std::to_string(i));
}

// What the handler below works on.
test::Bench* handlers_bench = nullptr;
ThreadBuffer* handlers_thread = nullptr;
int handlers_level = 0;

TEST(NvtxSource, EventsFromWithinACallbackAreCountedAndLeftOut) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  handlers_bench = &bench;
  handlers_thread = &thread;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) {
    Emitter handler(*handlers_thread, handlers_bench->registry);
    handlers_level = handler.push(0, test::text_details("inside"));
    handler.mark(0, test::text_details("inside"));
  };
  sigaction(SIGUSR1, &action, &before);
  {
    const Emitter interrupted(thread, bench.registry);
    raise(SIGUSR1);
  }
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(handlers_level, NVTX_NO_PUSH_POP_TRACKING);
  Emitter(thread, bench.registry).push(0, test::text_details("after"));
  EXPECT_THAT(bench.ranges(), ElementsAre("after (open)"));
  EXPECT_EQ(bench.dropped("NVTX range"), 1);
  EXPECT_EQ(bench.dropped("NVTX mark"), 1);
}

TEST(NvtxSource, HandlesThatNobodyGaveOutDoNoHarm) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  EXPECT_EQ(Emitter(thread, bench.registry).push(number_of(reinterpret_cast<nvtxDomainHandle_t>(&bench)), {}),
            NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(Emitter(thread, bench.registry).push(17, {}), NVTX_NO_PUSH_POP_TRACKING);
  EventDetails details;
  details.string = 12345;
  Emitter(thread, bench.registry).mark(0, details);
  bench.poll();
  bench.flush();
  EXPECT_THAT(bench.rows("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                         "StringIds s ON s.id = n.textId)"),
              ElementsAre("(unregistered string)"));
}

TEST(NvtxSource, AfterALostCommitTheRestIsRight) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  bench.registry.add_domain("d");
  Emitter(thread, bench.registry).push(0, test::text_details("kept"));
  EXPECT_THAT(bench.ranges(), ElementsAre("kept (open)"));
  Emitter(thread, bench.registry).push(0, test::text_details("over the loss"));
  Emitter(thread, bench.registry).push(0, test::text_details("lost"));
  Emitter(thread, bench.registry).pop(0);
  bench.poll();
  bench.source.before_flush(bench.writer());
  bench.writer().roll_back();  // as when the disk is full
  bench.source.lost("no space left");
  EXPECT_EQ(bench.dropped("NVTX range or mark"), 1);
  Emitter(thread, bench.registry).pop(0);
  Emitter(thread, bench.registry).pop(0);
  EXPECT_THAT(bench.ranges(), ElementsAre("kept", "over the loss"));
  EXPECT_EQ(bench.row("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                      "StringIds s ON s.id = n.textId) WHERE eventType = 75"),
            "d");
}

TEST(NvtxSource, WithoutAFileEventsAreCounted) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  Emitter(thread, bench.registry).push(0, {});
  Emitter(thread, bench.registry).mark(0, {});
  Emitter(thread, bench.registry).pop(0);
  bench.source.discard("no file");
  EXPECT_EQ(bench.dropped("NVTX range or mark"), 2);
  EXPECT_THAT(bench.ranges(), IsEmpty());
}

TEST(NvtxSource, FourThreadsAtOnce) {
  test::Bench bench;
  constexpr std::uint32_t kThreads = 4;
  constexpr int kRanges = 3000;
  std::atomic<std::uint32_t> running = kThreads;
  std::vector<std::thread> threads;
  for (std::uint32_t tid = 1; tid <= kThreads; ++tid) {
    threads.emplace_back([&, tid] {
      ThreadBuffer& buffer = bench.thread(tid);
      const std::uint32_t domain = bench.registry.add_domain("shared");
      for (int i = 0; i < kRanges; ++i) {
        EventDetails details;
        details.string = bench.registry.add_string(std::to_string(i % 50));
        Emitter(buffer, bench.registry).push(domain, details);
        Emitter(buffer, bench.registry).pop(domain);
      }
      --running;
    });
  }
  while (running != 0)
    bench.source.poll(bench.writer());
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(static_cast<std::int64_t>(bench.ranges().size()) + bench.dropped("NVTX range"),
            std::int64_t{kThreads} * kRanges);
  EXPECT_EQ(bench.row("SELECT count(DISTINCT globalTid) FROM NVTX_EVENTS WHERE eventType = 59"),
            std::to_string(kThreads));
}

}  // namespace
}  // namespace swinscope
