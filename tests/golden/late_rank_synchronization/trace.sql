-- [nsys 3.25] Two ranks, three steps: rank 1 waits for each of five kernels before it launches the next, so that nothing is launched ahead. Rank 0 waits, and
-- the synchronizing calls of rank 1's host are the cause.
--
-- In us from the begin of a step, which comes every 5,000.
--   rank 0   launches everything at the begin: five kernels of 200 each from 10 on, without gaps; all-reduce 1010 .. 1510
--   rank 1   launches kernel i at 300 i and is in cudaStreamSynchronize from 300 i + 5 to 300 i + 230; the kernel runs 300 i + 10 .. 300 i + 210: four
--            gaps of 100, which begin while it is blocked and end with a kernel launched 90 later; all-reduce 1410 .. 1510
-- Rank 0 waits 1410 - 1010 = 400 per step, 8 % of 5,000: the four gaps. The idle before the first kernel is the host's on both.
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r) AS (VALUES (0), (1))
INSERT INTO range (start, end, pid, name) SELECT 5000000 * k, 5000000 * (k + 1), 100 + r, 'step ' || k FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r, apart) AS (VALUES (0, 1000), (1, 300000)),
     n (n) AS (VALUES (0), (1), (2), (3), (4), (5))
INSERT INTO call (start, end, pid, correlation)
SELECT 5000000 * k + apart * min(n, 4) + 600 * (n / 5), 5000000 * k + apart * min(n, 4) + 600 * (n / 5) + 500, 100 + r, 6 * k + n + 1 FROM k, r, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), n (n) AS (VALUES (0), (1), (2), (3))
INSERT INTO call (start, end, pid, correlation, name)
SELECT 5000000 * k + 300000 * n + 5000, 5000000 * k + 300000 * n + 230000, 101, 100 + 6 * k + n, 'cudaStreamSynchronize' FROM k, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 2), r (r, apart) AS (VALUES (0, 200000), (1, 300000)),
     n (n) AS (VALUES (0), (1), (2), (3), (4))
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT 5000000 * k + apart * n + 10000, 5000000 * k + apart * n + 210000, 100 + r, r, 7, 6 * k + n + 1, 'layer_norm_kernel' FROM k, r, n
UNION ALL SELECT 5000000 * k + 4 * apart + 210000, 5000000 * k + 1510000, 100 + r, r, 20, 6 * k + 6, 'ncclDevKernel_AllReduce_Sum_f32' FROM k, r;
