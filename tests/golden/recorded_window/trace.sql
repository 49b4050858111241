-- [own schema] CUDA was recorded from 2950 to 5050 only (record --steps 2:4); ranges are there of the whole run.
--
-- Steps of 1000 at 1000, 2000, 3000, 4000 and 5000; those at 3000 and 4000 count, since their middles 3500 and 4500 lie within.
-- mean 1000. Each step runs the operation `fc` (200 of the host, 600 FLOPs); the GPU was seen in two of them, 300 and 500:
-- 2 calls, 1200 FLOPs in 800 ns (0.0015 TFLOP/s), 400 a step, and 10 images a step are 20. The capture at 100 to 200 is outside,
-- so it counts by its one replay (node 5, 90 ns): 700 FLOPs once.
-- Each kernel is the only one of its operation: 2 x 600 + 700 FLOPs and 2 x 66 + 77 bytes in 890 ns.
INSERT INTO run (rank) VALUES (0);
INSERT INTO SWINSCOPE_WINDOW (start, end) VALUES (2950, 5050);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (100, 200, 'swinscope', 'head', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":700,"bytes_read":70,"bytes_written":7}'),
    (1000, 2000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","step":0,"images":10}'),
    (2000, 3000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","step":1,"images":10}'),
    (3000, 4000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","step":2,"images":10}'),
    (4000, 5000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","step":3,"images":10}'),
    (5000, 6000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","step":4,"images":10}'),
    (1100, 1300, 'swinscope', 'fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":600,"bytes_read":60,"bytes_written":6}'),
    (2100, 2300, 'swinscope', 'fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":600,"bytes_read":60,"bytes_written":6}'),
    (3100, 3300, 'swinscope', 'fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":600,"bytes_read":60,"bytes_written":6}'),
    (4100, 4300, 'swinscope', 'fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":600,"bytes_read":60,"bytes_written":6}'),
    (5100, 5300, 'swinscope', 'fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":600,"bytes_read":60,"bytes_written":6}');
INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, graphNodeId, originalGraphNodeId) VALUES
    (120, 120, (100 << 24) | 1, 5, NULL);
INSERT INTO call (start, end, correlation, name) VALUES
    (3110, 3120, 1, 'cudaLaunchKernel'), (4110, 4120, 2, 'cudaLaunchKernel'), (4400, 4410, 3, 'cudaGraphLaunch');
INSERT INTO kernel (start, end, correlation, node, name) VALUES
    (3200, 3500, 1, NULL, 'gemm'), (4200, 4700, 2, NULL, 'gemm'), (4800, 4890, 3, 5, 'gemm');
