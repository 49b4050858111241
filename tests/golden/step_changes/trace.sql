-- [nsys 3.25] From step 10 on steps take half as long again: on rank 0 by its own kernels, on rank 1 by the all-reduce that waits for it.
--
-- Ranks 0 and 1: steps 1 to 9 of 1000, 10 to 18 of 1500. A kernel of 400, on rank 0 of 900 from step 10 on; on rank 1 an all-reduce beside it,
-- which is not its own work. Rank 2 has three steps of 1000: too few to say anything.
-- Ranks of the 18 times: 5 nine times, 14 nine times; U_9 = 2 * 45 - 9 * 19 = -81, x^2 = 3 * 81^2 / (18^3 + 18^2) = 3.19737,
-- p = 2 * 2 exp(-2 x^2) = 4 * 0.00167048 = 0.00668
CREATE TEMP TABLE s AS
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 17), r (r) AS (VALUES (0), (1), (2))
SELECT r, k, CASE WHEN k < 9 THEN 1000 * k ELSE 1500 * k - 4500 END AS begin, CASE WHEN k < 9 THEN 1000 ELSE 1500 END AS length
FROM k, r WHERE r < 2 OR k < 3;
INSERT INTO range (start, end, pid, name) SELECT begin, begin + length, 100 + r, 'step ' || k FROM s;
INSERT INTO call (start, end, pid, correlation) SELECT begin + 10, begin + 20, 100 + r, 2 * k + 1 FROM s;
INSERT INTO kernel (start, end, pid, device, correlation, name)
SELECT begin + 50, begin + 50 + CASE WHEN r = 0 AND k >= 9 THEN 900 ELSE 400 END, 100 + r, r, 2 * k + 1, 'gemm' FROM s;
INSERT INTO call (start, end, pid, correlation) SELECT begin + 30, begin + 40, 100 + r, 2 * k + 2 FROM s WHERE r = 1;
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT begin + 60, begin + length - 40, 100 + r, r, 20, 2 * k + 2, 'ncclDevKernel_AllReduce_Sum_f32' FROM s WHERE r = 1;
DROP TABLE s;
