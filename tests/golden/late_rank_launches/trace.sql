-- [nsys 3.25] Two ranks, three steps: rank 0's host launches each of five kernels only 390 us after the one before has ended. Rank 1 waits, and rank 0's
-- host is the cause.
--
-- In us from the begin of a step, which comes every 5,000.
--   rank 1   launches everything at the begin: five kernels of 200 each from 10 on, without gaps; all-reduce 1010 .. 2710
--   rank 0   launches kernel i at 600 i, which runs 600 i + 10 .. 600 i + 210: four gaps of 400, whose launch begins 390 after them; all-reduce 2610 .. 2710
-- Rank 1 waits 2610 - 1010 = 1600 per step, 32 % of 5,000. Both have idle of cause host before the first kernel (10, later 2290 + 10); rank 0's gaps are 1600
-- more of it.
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r) AS (VALUES (0), (1))
INSERT INTO range (start, end, pid, name) SELECT 5000000 * k, 5000000 * (k + 1), 100 + r, 'step ' || k FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r, apart) AS (VALUES (0, 600000), (1, 1000)),
     n (n) AS (VALUES (0), (1), (2), (3), (4), (5))
INSERT INTO call (start, end, pid, correlation)
SELECT 5000000 * k + apart * min(n, 4) + 600 * (n / 5), 5000000 * k + apart * min(n, 4) + 600 * (n / 5) + 500, 100 + r, 6 * k + n + 1 FROM k, r, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r, apart) AS (VALUES (0, 600000), (1, 200000)),
     n (n) AS (VALUES (0), (1), (2), (3), (4))
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT 5000000 * k + apart * n + 10000, 5000000 * k + apart * n + 210000, 100 + r, r, 7, 6 * k + n + 1, 'layer_norm_kernel' FROM k, r, n
UNION ALL SELECT 5000000 * k + 4 * apart + 210000, 5000000 * k + 2710000, 100 + r, r, 20, 6 * k + 6, 'ncclDevKernel_AllReduce_Sum_f32'
FROM k, r;
