-- [own schema] Three steps of 1000: gemm 300, norm 100, gelu 100, a copy of 100 with nothing beside it, idle 100 + 300, which
-- is the host's: each launch comes after the gap has begun.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1000), (2, 2000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1000, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 400, 100, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 400, t + 500, 100, 7, 10 * k + 2, 'layer_norm_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 100, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 500, t + 600, 100, 7, 10 * k + 3, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 13, t + 14, 100, 10 * k + 4 FROM step;
INSERT INTO copy (start, end, pid, stream, correlation, bytes) SELECT t + 600, t + 700, 100, 7, 10 * k + 4, 64 FROM step;
