-- [own schema] Steps of 1020: gemm 500, gelu 150, optimizer 50, idle 100 + 220.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1020), (2, 2040), (3, 3060)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1020, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 600, 100, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 600, t + 750, 100, 7, 10 * k + 2, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 100, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 750, t + 800, 100, 7, 10 * k + 3, 'adamw_kernel' FROM step;
INSERT INTO TARGET_INFO_GPU (vmId, id, name, memoryBandwidth, uuid, cuDevice) VALUES (0, 0, 'NVIDIA H100 80GB HBM3', 3350000000000, 'GPU-2', 0);
INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid) VALUES (0, 0, 100, 'GPU-2');
