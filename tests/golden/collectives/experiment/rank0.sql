-- [own schema] Two of four ranks, two steps: collectives of five kinds in three process groups; one is replayed by a CUDA graph, one is not matched, one ends
-- on a rank before it begins on the other.
--
-- In us from the begin of a step, which comes every 1,000; rank 0, and rank 1 where it differs:
--   gemm of the graph     10 .. 110 (130)
--   all-reduce            110 (130) .. 230      of the graph, whose node the source described once, when it was captured: sequence number 3 at each launch.
--                                               By order; group [0, 1, 2, 3], 1,000,000 floats: 4,000,000 bytes. Wait of rank 0 20, transfer 100.
--                                               4,000,000 / 100 us = 40 GB/s, bus 2 x 3 / 4 x 40 = 60
--   all-gather            300 .. 350            group [0, 1], halves, 500,000 in, 1,000,000 out: 2,000,000 bytes. Nobody waits, nobody is last. Transfer 50:
--                                               40 GB/s, bus 1 / 2 x 40 = 20
--   reduce-scatter        400 (420) .. 470      250,000 x 2 bytes in and out: a rank's part of 1,000,000. Wait 20, transfer 50: 20 GB/s, bus 10
--   send and receive      500 (510) .. 530      80,000 bytes. Wait 10, transfer 20: 4 GB/s, bus 4
--   all-reduce of 8 bytes 600 .. 610 (615 .. 625)    ends on rank 0 before rank 1 begins, on one clock: undivided
--   broadcast             700 .. 705, rank 0 only, group [0, 2]: not matched, 2 kernels
-- Waits and exposed times are means over the two ranks: of the all-reduce wait 10 and transfer 100, and so on.
--
-- Late: rank 1 comes last at 3 of the 3 collectives of a step whose last one is known, and makes rank 0 wait 20 + 20 + 10 = 50 per step. Its window is that of
-- its steps, 2,000: 5 %. Why: at the first step's all-reduce its gemm takes 20 longer. At the second's, both were last together at 530 of the step before; since
-- then rank 0 is idle 70 + 90 (dependency) + 305 (host) and rank 1 85 + 385: 5 longer in all, by its host, since rank 0 has a broadcast in between. 20 of
-- gemm and 5 of host share the wait of 20: 16 and 4. After an all-reduce both go on together (none computes while it transfers), and before the reduce-scatter
-- and the send, whose launches came long before, rank 1 is idle 20 and 10 longer than rank 0: dependency. So per step: dependency 30, kernels (20 + 16) / 2 = 18,
-- host 4 / 2 = 2. The all-gather, at which nobody comes late, charges nothing. Rank 0's exposed wait in the breakdown is 2 x 50 = 100.
INSERT INTO run (rank, world, pid) VALUES (0, 4, 100);
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO range (start, end, pid, name) SELECT 1000000 * k, 1000000 * (k + 1), 100, 'step ' || k FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO call (start, end, pid, correlation, name) SELECT 1000000 * k, 1000000 * k + 1000, 100, 10 * k + 1, 'cudaGraphLaunch' FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1), n (n) AS (VALUES (2), (3), (4), (5), (6))
INSERT INTO call (start, end, pid, correlation) SELECT 1000000 * k + 1000 * n, 1000000 * k + 1000 * n + 500, 100, 10 * k + n FROM k, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO kernel (start, end, pid, stream, correlation, node, name)
SELECT 1000000 * k + 10000, 1000000 * k + 110000 + 20000 * 0, 100, 7, 10 * k + 1, 71, 'sm90_xmma_gemm' FROM k
UNION ALL SELECT 1000000 * k + 110000 + 20000 * 0, 1000000 * k + 230000, 100, 20, 10 * k + 1, 72, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 300000, 1000000 * k + 350000, 100, 20, 10 * k + 2, NULL, 'ncclDevKernel_AllGather_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 400000 + 20000 * 0, 1000000 * k + 470000, 100, 20, 10 * k + 3, NULL, 'ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 500000 + 10000 * 0, 1000000 * k + 530000, 100, 20, 10 * k + 4, NULL, 'ncclDevKernel_SendRecv' FROM k
UNION ALL SELECT 1000000 * k + 600000 + 15000 * 0, 1000000 * k + 610000 + 15000 * 0, 100, 20, 10 * k + 5, NULL, 'ncclDevKernel_AllReduce_Sum_f64_RING_LL' FROM k;
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, graphNodeId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
VALUES (100 << 24, 0, 72, 'allreduce', 1000000, 1000000, 'Float', 4, '', '[0, 1, 2, 3]', 3);
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1), c (n, name, elements, all_elements, dtype) AS (VALUES
    (2, '_allgather_base', 500000, 1000000, 'Half'), (3, '_reduce_scatter_base', 250000, 250000, 'BFloat16'),
    (4, 'send', 20000, 20000, 'Float'), (5, 'allreduce', 1, 1, 'Double'))
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
SELECT 100 << 24, 10 * k + n, name, elements, all_elements, dtype, 2, '', '[0, 1]', 10 * k + n FROM k, c;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO kernel (start, end, stream, correlation, name)
SELECT 1000000 * k + 700000, 1000000 * k + 705000, 20, 10 * k + 6, 'ncclDevKernel_Broadcast_RING_LL' FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
SELECT 100 << 24, 10 * k + 6, 'broadcast', 8, 8, 'Byte', 2, '', '[0, 2]', k FROM k;
