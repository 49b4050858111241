-- [own schema] Rank 1: rank0.sql says what is expected.
INSERT INTO run (rank, world, pid) VALUES (1, 4, 200);
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO range (start, end, pid, name) SELECT 1000000 * k, 1000000 * (k + 1), 200, 'step ' || k FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO call (start, end, pid, correlation, name) SELECT 1000000 * k, 1000000 * k + 1000, 200, 10 * k + 1, 'cudaGraphLaunch' FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1), n (n) AS (VALUES (2), (3), (4), (5), (6))
INSERT INTO call (start, end, pid, correlation) SELECT 1000000 * k + 1000 * n, 1000000 * k + 1000 * n + 500, 200, 10 * k + n FROM k, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1)
INSERT INTO kernel (start, end, pid, stream, correlation, node, name)
SELECT 1000000 * k + 10000, 1000000 * k + 110000 + 20000 * 1, 200, 7, 10 * k + 1, 71, 'sm90_xmma_gemm' FROM k
UNION ALL SELECT 1000000 * k + 110000 + 20000 * 1, 1000000 * k + 230000, 200, 20, 10 * k + 1, 72, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 300000, 1000000 * k + 350000, 200, 20, 10 * k + 2, NULL, 'ncclDevKernel_AllGather_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 400000 + 20000 * 1, 1000000 * k + 470000, 200, 20, 10 * k + 3, NULL, 'ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL' FROM k
UNION ALL SELECT 1000000 * k + 500000 + 10000 * 1, 1000000 * k + 530000, 200, 20, 10 * k + 4, NULL, 'ncclDevKernel_SendRecv' FROM k
UNION ALL SELECT 1000000 * k + 600000 + 15000 * 1, 1000000 * k + 610000 + 15000 * 1, 200, 20, 10 * k + 5, NULL, 'ncclDevKernel_AllReduce_Sum_f64_RING_LL' FROM k;
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, graphNodeId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
VALUES (200 << 24, 0, 72, 'allreduce', 1000000, 1000000, 'Float', 4, '', '[0, 1, 2, 3]', 3);
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT 1), c (n, name, elements, all_elements, dtype) AS (VALUES
    (2, '_allgather_base', 500000, 1000000, 'Half'), (3, '_reduce_scatter_base', 250000, 250000, 'BFloat16'),
    (4, 'send', 20000, 20000, 'Float'), (5, 'allreduce', 1, 1, 'Double'))
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
SELECT 200 << 24, 10 * k + n, name, elements, all_elements, dtype, 2, '', '[0, 1]', 10 * k + n FROM k, c;
