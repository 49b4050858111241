-- [nsys 3.25] Two ranks, four steps: rank 1's loader is 1.5 ms late with each batch. Rank 0 waits, and rank 1's data are the cause.
--
-- In us from the begin of a step, which comes every 10,000. A step launches gemm, the all-reduce and adam once its batch is there: at 100 on rank 0, at 1600
-- on rank 1. Then the host asks for the next batch, at 3000, and waits for it in a range of PyTorch's loader until shortly before the next launch; the first
-- step's batch was asked for at its begin.
--   rank 0   gemm 110 .. 1110, all-reduce 1110 .. 2710, adam 2710 .. 3210
--   rank 1   gemm 1610 .. 2610, all-reduce 2610 .. 2710, adam 2710 .. 3210
-- Rank 0 waits 2610 - 1110 = 1500, exposed. The gap before gemm begins at 3210 of the step before (at 0 in the first), when the thread that launches it
-- is in the loader's range: input, 6900 on rank 0 and 8400 on rank 1 (110 and 1610). So the delay is 1500 per step, all of it input: 15 % of the step.
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r) AS (VALUES (0), (1))
INSERT INTO range (start, end, pid, name) SELECT 10000000 * k, 10000000 * (k + 1), 100 + r, 'step ' || k FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r, late) AS (VALUES (0, 0), (1, 1500000))
INSERT INTO range (start, end, pid, name)
SELECT max(0, 10000000 * k - 7000000), 10000000 * k + late + 99000, 100 + r, 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__'
FROM k, r;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r, late) AS (VALUES (0, 0), (1, 1500000)), n (n) AS (VALUES (0), (1), (2))
INSERT INTO call (start, end, pid, correlation)
SELECT 10000000 * k + late + 100000 + 1000 * n, 10000000 * k + late + 100000 + 1000 * n + 500, 100 + r, 3 * k + n + 1 FROM k, r, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 3), r (r, late) AS (VALUES (0, 0), (1, 1500000))
INSERT INTO kernel (start, end, pid, device, stream, correlation, name)
SELECT 10000000 * k + late + 110000, 10000000 * k + late + 1110000, 100 + r, r, 7, 3 * k + 1, 'sm90_xmma_gemm' FROM k, r
UNION ALL SELECT 10000000 * k + late + 1110000, 10000000 * k + 2710000, 100 + r, r, 20, 3 * k + 2, 'ncclDevKernel_AllReduce_Sum_f32' FROM k, r
UNION ALL SELECT 10000000 * k + 2710000, 10000000 * k + 3210000, 100 + r, r, 7, 3 * k + 3, 'multi_tensor_apply_kernel' FROM k, r;
