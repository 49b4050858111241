-- [own schema] Steps of 2000: three gemms and two gelus, optimizer 25.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 2000), (2, 4000), (3, 6000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 2000, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 500, 100, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 500, t + 600, 100, 7, 10 * k + 2, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 100, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 600, t + 1100, 100, 7, 10 * k + 3, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 13, t + 14, 100, 10 * k + 4 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 1100, t + 1200, 100, 7, 10 * k + 4, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 14, t + 15, 100, 10 * k + 5 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 1200, t + 1900, 100, 7, 10 * k + 5, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 15, t + 16, 100, 10 * k + 6 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 1900, t + 1925, 100, 7, 10 * k + 6, 'adamw_kernel' FROM step;
