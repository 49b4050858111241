-- [own schema] Three steps of 1100. gemm 324 instead of 300, gelu 140 instead of 100 beside an all-reduce of 176, of which 100
-- are beside nothing, a cast of 36 that the base has not; idle 100 + 200 instead of 400.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1100), (2, 2200)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1100, 100, 'swinscope', 'step' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 10, t + 11, 100, 10 * k + 1 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 100, t + 424, 100, 7, 10 * k + 1, 'sm90_xmma_gemm_f16' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 11, t + 12, 100, 10 * k + 2 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 424, t + 524, 100, 7, 10 * k + 2, 'layer_norm_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 12, t + 13, 100, 10 * k + 3 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 524, t + 700, 100, 20, 10 * k + 3, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 13, t + 14, 100, 10 * k + 4 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 624, t + 764, 100, 7, 10 * k + 4, 'gelu_kernel' FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 14, t + 15, 100, 10 * k + 5 FROM step;
INSERT INTO copy (start, end, pid, stream, correlation, bytes) SELECT t + 764, t + 864, 100, 7, 10 * k + 5, 64 FROM step;
INSERT INTO call (start, end, pid, correlation) SELECT t + 15, t + 16, 100, 10 * k + 6 FROM step;
INSERT INTO kernel (start, end, pid, stream, correlation, name) SELECT t + 864, t + 900, 100, 7, 10 * k + 6, 'cast_kernel' FROM step;
