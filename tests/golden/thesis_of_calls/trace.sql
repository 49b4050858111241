-- [own schema] The thesis's definition where no framework recorded its operations: CUDA calls and annotated operations instead.
--
-- Thread 1: the operation 0 .. 200 with the call 50 .. 100 inside, and the call 150 .. 300: united 0 .. 300. Thread 2: a call of
--   100. Sum 400. The step and the range without a payload are no operations.
-- Kernels: 500 + 100 = 600. GPU share 600 / 1000 = 60 %, CPU share 40 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (0, 2000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":2}'), (0, 900, 'swinscope', 'forward', NULL),
    (0, 200, 'swinscope', 'head.fc', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":1,"bytes_read":1,"bytes_written":1}');
INSERT INTO call (start, end, correlation) VALUES (50, 100, 1), (150, 300, 2);
INSERT INTO call (start, end, thread, name) VALUES (700, 800, 2, 'cudaStreamSynchronize');
INSERT INTO kernel (start, end, correlation, name) VALUES (100, 600, 1, 'gemm'), (600, 700, 2, 'gelu');
