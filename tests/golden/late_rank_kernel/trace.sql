-- [nsys 3.25] Four ranks, three steps: on rank 1 the gemm takes twice as long. The others wait, and its kernels are the cause: that one.
--
-- In us from the begin of a step, which comes every 5,000. Everything is launched at the begin.
--   ranks 0, 2, 3   norm 10 .. 210, gemm 210 .. 1210, all-reduce 1210 .. 2310, adam 2310 .. 2810
--   rank 1          norm 10 .. 210, gemm 210 .. 2210, all-reduce 2210 .. 2310, adam 2310 .. 2810
-- Each of the three others waits 2210 - 1210 = 1000 per step, 20 % of 5,000. Rank 1's stretch has 1000 more of kernels than each other's, all of it gemm;
-- its idle is the same (2190 + 10 of cause host).
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r) AS (VALUES (0), (1), (2), (3))
INSERT INTO range (start, end, pid, name) SELECT 5000000 * k, 5000000 * (k + 1), 100 + r, 'step ' || k FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r) AS (VALUES (0), (1), (2), (3)), n (n) AS (VALUES (0), (1), (2), (3))
INSERT INTO call (start, end, pid, correlation) SELECT 5000000 * k + 1000 * n, 5000000 * k + 1000 * n + 500, 100 + r, 4 * k + n + 1 FROM k, r, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r, longer) AS (VALUES (0, 0), (1, 1000000), (2, 0), (3, 0))
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT 5000000 * k + 10000, 5000000 * k + 210000, 100 + r, r, 7, 4 * k + 1, 'layer_norm_kernel' FROM k, r
UNION ALL SELECT 5000000 * k + 210000, 5000000 * k + longer + 1210000, 100 + r, r, 7, 4 * k + 2, 'sm90_xmma_gemm' FROM k, r
UNION ALL SELECT 5000000 * k + longer + 1210000, 5000000 * k + 2310000, 100 + r, r, 20, 4 * k + 3, 'ncclDevKernel_AllReduce_Sum_f32' FROM k, r
UNION ALL SELECT 5000000 * k + 2310000, 5000000 * k + 2810000, 100 + r, r, 7, 4 * k + 4, 'multi_tensor_apply_kernel' FROM k, r;
