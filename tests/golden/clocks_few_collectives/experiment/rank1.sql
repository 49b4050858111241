-- [own schema] Rank 1 by its own clock: rank0.sql says what is expected.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 200);
UPDATE SWINSCOPE_RUN SET host = 'beta';
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 18),
     c (k, e, length) AS (SELECT k, 10000000 * k + 400000, iif(k % 2, 300000, 150000) FROM k)
INSERT INTO kernel (start, end, pid, stream, correlation, name)
SELECT e - length - 50000, e - length, 200, 7, 2 * k + 1, 'sm90_xmma_gemm' FROM c
UNION ALL SELECT e - length, e, 200, 20, 2 * k + 2, 'ncclDevKernel_AllReduce' FROM c;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 18),
     c (k, e, length) AS (SELECT k, 10000000 * k + 400000, iif(k % 2, 300000, 150000) FROM k)
INSERT INTO range (start, end, pid, name) SELECT e - length - 50000, e + 3000000, 200, 'step' FROM c;
