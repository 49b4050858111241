-- [own schema] Two hosts, 24 steps: the clock of rank 1's is 3 ms ahead, and its gemm takes twice as long. Rank 0 waits for it, whatever its clock shows.
--
-- In us from the begin of a step, which comes every 5,000, on a right clock (rank 1's file: 3,000 more):
--   rank 0   gemm 10 .. 1110, all-reduce 1110 .. 2310, adam 2310 .. 2810
--   rank 1   gemm 10 .. 2210, all-reduce 2210 .. 2310, adam 2310 .. 2810
-- The ends of the 24 all-reduces agree once 3,000 are taken off: offset -3000000, no drift, residual 0. Rank 0 waits 2210 - 1110 = 1100 per step, 22 % of
-- 5,000: rank 1's gemm. By the clocks as they are rank 1 would come 4,100 late, which is after the end on rank 0. Transfer 100 on both.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
UPDATE SWINSCOPE_RUN SET host = 'alpha';
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23)
INSERT INTO range (start, end, pid, name) SELECT 5000000 * k + 0, 5000000 * (k + 1) + 0, 100, 'step ' || k FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23), n (n) AS (VALUES (0), (1), (2))
INSERT INTO call (start, end, pid, correlation) SELECT 5000000 * k + 1000 * n + 0, 5000000 * k + 1000 * n + 500 + 0, 100, 3 * k + n + 1 FROM k, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23)
INSERT INTO kernel (start, end, pid, stream, correlation, name)
SELECT 5000000 * k + 10000 + 0, 5000000 * k + 1110000 + 0, 100, 7, 3 * k + 1, 'sm90_xmma_gemm' FROM k
UNION ALL SELECT 5000000 * k + 1110000 + 0, 5000000 * k + 2310000 + 0, 100, 20, 3 * k + 2, 'ncclDevKernel_AllReduce_Sum_f32' FROM k
UNION ALL SELECT 5000000 * k + 2310000 + 0, 5000000 * k + 2810000 + 0, 100, 7, 3 * k + 3, 'multi_tensor_apply_kernel' FROM k;
