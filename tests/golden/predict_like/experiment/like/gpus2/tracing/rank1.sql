-- [own schema] Steps of 1340: gemm 600, gelu 150, optimizer 50, all-reduce 200, idle 100 + 240.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 101);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1340), (2, 2680), (3, 4020)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1340, 101, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 101, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 700, 101, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 101, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 700, t + 850, 101, 7, 10 * k + 2, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 101, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 850, t + 900, 101, 7, 10 * k + 3, 'adamw_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 13, t + 14, 101, 10 * k + 4 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 900, t + 1100, 101, 20, 10 * k + 4, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)' FROM step;
