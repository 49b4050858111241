-- [own schema] Rank 1 by its own clock, which is 3 ms ahead: rank0.sql says what is expected.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 200);
UPDATE SWINSCOPE_RUN SET host = 'beta';
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23)
INSERT INTO range (start, end, pid, name) SELECT 5000000 * k + 3000000, 5000000 * (k + 1) + 3000000, 200, 'step ' || k FROM k;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23), n (n) AS (VALUES (0), (1), (2))
INSERT INTO call (start, end, pid, correlation) SELECT 5000000 * k + 1000 * n + 3000000, 5000000 * k + 1000 * n + 500 + 3000000, 200, 3 * k + n + 1 FROM k, n;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23)
INSERT INTO kernel (start, end, pid, stream, correlation, name)
SELECT 5000000 * k + 10000 + 3000000, 5000000 * k + 2210000 + 3000000, 200, 7, 3 * k + 1, 'sm90_xmma_gemm' FROM k
UNION ALL SELECT 5000000 * k + 2210000 + 3000000, 5000000 * k + 2310000 + 3000000, 200, 20, 3 * k + 2, 'ncclDevKernel_AllReduce_Sum_f32' FROM k
UNION ALL SELECT 5000000 * k + 2310000 + 3000000, 5000000 * k + 2810000 + 3000000, 200, 7, 3 * k + 3, 'multi_tensor_apply_kernel' FROM k;
