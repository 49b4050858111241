-- [own schema] The base once more, a gemm of 301: 0.3 % longer, which repeats of a run differ by, too.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1000), (2, 2000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1000, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 401, 100, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 401, t + 501, 100, 7, 10 * k + 2, 'layer_norm_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 100, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 501, t + 601, 100, 7, 10 * k + 3, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 13, t + 14, 100, 10 * k + 4 FROM step;
INSERT INTO copy (start, end, pid, stream, correlation, bytes) SELECT t + 601, t + 701, 100, 7, 10 * k + 4, 64 FROM step;
