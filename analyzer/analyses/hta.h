// The figures of Holistic Trace Analysis (HTA) 0.5.0, Meta's analyzer of PyTorch traces, as it computes them with its
// defaults: https://hta.readthedocs.io (temporal breakdown, idle time breakdown, kernel breakdown, communication
// computation overlap). Where HTA's documentation and its program disagree, the program counts; tests/peers/hta runs it
// beside us.
//
// Rows. Every GPU event of a rank and every synchronization on a stream, on one timeline: HTA knows no devices, so
// streams of the same number are one stream. Times are whole microseconds: the begin is rounded up, the end down, so an
// event that covers no whole microsecond lasts -1 us. Both are taken from the file's own times, in double precision.
// Steps. With two or more different names that contain "ProfilerStep" in the trace, each rank keeps the host calls that
// begin before its last such range does, and of the rows those whose call is kept: once per kept call of their
// correlation id. Types, by the beginning of the name: "nccl…Kernel" is COMMUNICATION; "Memcpy", "Memset" and "dma" are
// MEMORY; another name with "Memcpy" or "Sync" in it has no type; all others are COMPUTATION. Merging. Rows in the
// order of their begins; a row that begins after the end of all before it opens a new group. The length of a set of
// groups is the sum of theirs, the -1 of short ones included.
//
// Tables (us: whole microseconds; percentages and ratios rounded half to even, to two decimals unless said):
//   temporal_breakdown  kernel_time: first begin to last end. idle: kernel_time without the groups of all rows.
//   compute: the
//                       groups of COMPUTATION. non_compute: the rest, which is communication and copies not under
//                       computation.
//   idle_breakdown      per stream, without synchronizations: the gap before each event, from the end of the one that
//   began
//                       before it (negative when they overlap). host_wait: its call began after that end; else
//                       kernel_wait: a gap below 30 us; else other, which every stream has, if only with 0. Ratio: of
//                       the stream's gaps.
//   comm_comp_overlap   time of COMMUNICATION groups under COMPUTATION groups, of the former's length; nothing when
//   that is 0. kernel_types        over all ranks: time in which exactly these types run, to one decimal; as "A
//   overlapping B" for several. top_kernels         HTA's kernel table: within a rank and type of more than ten names,
//   only those of the ten largest sums
//                       whose running total stays within the 0.8-quantile of all running totals are named. The others
//                       become "others", and every statistic is then over the sums of what became one row. Negative
//                       sums stay.
//   kernels             all names, statistics over launches. stddev is of the sample (n - 1), 0 for a single launch.
//
// Other than in METRICS' definitions, time is not in nanoseconds, computation hides communication and copies but not
// the other way round, and idle time is judged per stream without asking which one the device waited for.
//
// What a trace view does not have: the order of the file, so that a correlation id with several calls means the one
// that began last, and rows that begin in the same microsecond are in the order of the view; whether the file was
// written in whole microseconds throughout (HTA then rounds nothing, which is the same unless durations have decimals);
// annotations and host rows that claim a stream. An event without a call waits for no host, where HTA takes the first
// event of the file as its call. A rank without GPU rows is left out, where HTA fails.
#pragma once

#include <vector>

#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// In the order above; each by rank, idle_breakdown then by stream, kernel_types by sum, the kernel tables by type,
// name, rank.
std::vector<Table> hta_tables(const Trace& trace);

}  // namespace swinscope
