-- [nsys 3.25] Three ranks, four steps: rank 2's host is busy with something else for 2 ms before it launches. The others wait, and its host is the cause.
--
-- In us from the begin of a step, which comes every 10,000: the host launches gemm at 0 (rank 2 at 2000), the all-reduce 1 later and adam 2 later.
--   ranks 0, 1   gemm 10 .. 1010, all-reduce 1010 .. 3110, adam 3110 .. 3610
--   rank 2       gemm 2010 .. 3010, all-reduce 3010 .. 3110, adam 3110 .. 3610
-- Wait of ranks 0 and 1: 3010 - 1010 = 2000, exposed. Rank 2's stretch from the begin of the scope, or the end of the all-reduce before, has idle of cause
-- host (gemm is launched after the gap has begun) of 2010 (6390 + 2010), the others' 10 (6390 + 10): 2000 longer. Everything else is alike. So rank 2
-- comes last at 4 of 4, and each of the two others waits 2000 per step, all of it by rank 2's host: 20 % of a step of 10,000.
-- Ranks 0 and 1 are never last.
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r) AS (VALUES (0), (1), (2))
INSERT INTO range (start, end, pid, name) SELECT 10000000 * k, 10000000 * (k + 1), 100 + r, 'step ' || k FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r, late) AS (VALUES (0, 0), (1, 0), (2, 2000000)),
     n (n) AS (VALUES (0), (1), (2))
INSERT INTO call (start, end, pid, correlation)
SELECT 10000000 * k + late + 1000 * n, 10000000 * k + late + 1000 * n + 500, 100 + r, 3 * k + n + 1 FROM k, r, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r, late) AS (VALUES (0, 0), (1, 0), (2, 2000000))
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT 10000000 * k + late + 10000, 10000000 * k + late + 1010000, 100 + r, r, 7, 3 * k + 1, 'sm90_xmma_gemm' FROM k, r
UNION ALL SELECT 10000000 * k + late + 1010000, 10000000 * k + 3110000, 100 + r, r, 20, 3 * k + 2, 'ncclDevKernel_AllReduce_Sum_f32' FROM k, r
UNION ALL SELECT 10000000 * k + 3110000, 10000000 * k + 3610000, 100 + r, r, 7, 3 * k + 3, 'multi_tensor_apply_kernel' FROM k, r;
