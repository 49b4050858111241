-- [own schema] Three steps of 1000: gemm 300 and gelu 200, the rest idle.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
UPDATE SWINSCOPE_RUN SET command = 'train.py --model a --batch 8';
INSERT INTO TARGET_INFO_GPU (vmId, id, name, cuDevice) VALUES (0, 0, 'NVIDIA H200', 0);
CREATE TEMP TABLE step AS WITH s(k, t, d) AS (VALUES (0, 0, 1000), (1, 1000, 1000), (2, 2000, 1000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + d, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, correlation, name) SELECT t + 100, t + 400, 100, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, correlation, name) SELECT t + 400, t + 600, 100, 10 * k + 2, 'gelu_kernel' FROM step;
