-- [nsys 3.25] CUDA graphs traced as whole graphs: each execution is one row, the kernels inside are missing, and that is said.
--
-- graph 7 runs 1000 .. 1400 and 2000 .. 2600, a copy of 8000 bytes 1400 .. 1800; no other kernel.
-- window 1600, busy 400 + 400 + 600 = 1400 = 87.5 %, idle 200 (1800 .. 2000). Graph 7: 1000 in 2 calls, 1000 / 1400 of busy,
-- mean and median 500, p95 400 + 0.95 x 200 = 590, p99 400 + 0.99 x 200 = 598. Copy: 8000 B in 400 ns = 20 GB/s, 400 / 1400.
-- The gap's launch (id 3) began at 1700, before the gap: dependency.
-- What the graphs do is not known: of 1600 that is 1000 = 62.5 %, the copy from the host 400 = 25 %, other 200: no verdict.
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, graphId, contextId, streamId, correlationId, globalPid, graphExecId) VALUES
    (1000, 1400, 0, 7, 1, 13, 1, 100 << 24, 8),
    (2000, 2600, 0, 7, 1, 13, 3, 100 << 24, 8);
INSERT INTO copy (start, end, stream, correlation, bytes) VALUES (1400, 1800, 13, 2, 8000);
INSERT INTO call (start, end, correlation, name) VALUES
    (900, 950, 1, 'cudaGraphLaunch_v10000'), (960, 970, 2, 'cudaMemcpyAsync_v3020'), (1700, 1750, 3, 'cudaGraphLaunch_v10000');
INSERT INTO META_DATA_CAPTURE VALUES ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph');
