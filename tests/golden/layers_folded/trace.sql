-- [own schema] Equal layers as one row: blocks 0 and 1 of stage 0, but not block 2 (twice the FLOPs), stage 1, or fc2.
--
-- stage0.block*.mlp.fc1: 2 layers, 2 calls, host 50 + 60 = 110 (the median is block 0's), GPU 70 + 30 = 100, 4000 FLOPs and
-- 200 + 100 bytes in 100 ns: 0.04 TFLOP/s and 3 GB/s. Block 2: 4000 FLOPs and 150 bytes in 50 ns: 0.08 and 3. Stage 1: 2000 and 150
-- in 40 ns: 0.05 and 3.75. fc2: 2000 and 150 in 20 ns: 0.1 and 7.5. The most time comes first.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (0, 1000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":2}'),
    (0, 500, 'swinscope', 'forward', NULL),
    (10, 60, 'swinscope', 'stage0.block0.mlp.fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}'),
    (100, 160, 'swinscope', 'stage0.block1.mlp.fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}'),
    (200, 240, 'swinscope', 'stage0.block2.mlp.fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":4000,"bytes_read":100,"bytes_written":50}'),
    (300, 330, 'swinscope', 'stage1.block0.mlp.fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}'),
    (400, 410, 'swinscope', 'stage0.block0.mlp.fc2', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}');
INSERT INTO call (start, end, correlation) VALUES (20, 25, 1), (110, 115, 2), (210, 215, 3), (310, 315, 4), (402, 405, 5);
INSERT INTO kernel (start, end, correlation, name) VALUES (30, 100, 1, 'a'), (120, 150, 2, 'a'), (220, 270, 3, 'b'), (320, 360, 4, 'a'), (410, 430, 5, 'c');
