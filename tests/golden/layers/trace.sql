-- [own schema] Operations by layer path and phase; a GPU event belongs to the innermost annotated range that holds its launch.
--
-- stage0.block0.attn.qkv: forward 100 + 140 = 240 (median 120), backward 200. stage0.block0.attn.core: forward 60, inside of it the
-- launch at 250 of a kernel of 80; the launch at 20 belongs to qkv, the one at 850 to no operation: 150 of the 190 ns of GPU time
-- that the step launched have a layer (78.9 %).
-- The range without a payload and the one of another domain are no operations.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (0, 1000, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":2}'),
    (0, 500, 'swinscope', 'forward', NULL), (500, 900, 'swinscope', 'backward', NULL),
    (10, 110, 'swinscope', 'stage0.block0.attn.qkv', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}'),
    (230, 290, 'swinscope', 'stage0.block0.attn.core', '{"$schema":"swinscope.operation/1","class":"attention","precision":"fp32","flops":600,"bytes_read":30,"bytes_written":10}'),
    (300, 440, 'swinscope', 'stage0.block0.attn.qkv', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":2000,"bytes_read":100,"bytes_written":50}'),
    (550, 750, 'swinscope', 'stage0.block0.attn.qkv', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp32","flops":4000,"bytes_read":200,"bytes_written":150}'),
    (760, 800, 'swinscope', 'stage0.block0.norm', NULL),
    (120, 130, 'other', 'stage0.block0.norm', '{"$schema":"swinscope.operation/1","class":"norm","precision":"fp32","flops":1,"bytes_read":1,"bytes_written":1}');
INSERT INTO call (start, end, correlation) VALUES (20, 25, 1), (250, 255, 2), (850, 855, 3);
INSERT INTO kernel (start, end, correlation, name) VALUES (30, 100, 1, 'gemm'), (260, 340, 2, 'attention'), (860, 900, 3, 'adamw');
INSERT INTO cpu (at, thread, ns) VALUES (500, 0, 600), (1000, 0, 1100), (1000, 1, 300), (500, 2, 350), (1000, 2, 800);
