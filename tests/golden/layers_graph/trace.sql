-- [own schema] A CUDA graph: NVTX does not run at replay, so a replayed event belongs to the operation that was captured.
--
-- qkv (10 to 110) and proj (120 to 200) are captured: node 1 at 20 and node 2 at 30 in qkv, node 3 at 130 in proj. The graph is
-- instantiated at 300: nodes 11, 12, 13 are copies of 1, 2, 3, and each is reported as a new node first, as CUDA 13 does. Two replays (calls 7 and 8), inside of the range of another
-- operation that launched nothing of its own: 11 and 12 of 40 each, 13 of 25, so qkv has 4 events and 160 ns, proj 2 and 50 ns.
-- Calls and work are counted by replay: qkv 2 x 1000 FLOPs = 2000 in 160 ns (0.0125 TFLOP/s), proj 2 x 500 = 1000 in 50 ns (0.02 TFLOP/s).
-- Node 14 has no row (it was there before the recording began): its launch decides, and that lies in `replay`.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (10, 110, 'swinscope', 'qkv', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":1000,"bytes_read":100,"bytes_written":50}'),
    (120, 200, 'swinscope', 'proj', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":500,"bytes_read":30,"bytes_written":20}'),
    (400, 900, 'swinscope', 'replay', '{"$schema":"swinscope.operation/1","class":"other","precision":"fp16","flops":0,"bytes_read":0,"bytes_written":0}');
INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, graphNodeId, originalGraphNodeId) VALUES
    (20, 20, (100 << 24) | 1, 1, NULL), (30, 30, (100 << 24) | 1, 2, NULL), (130, 130, (100 << 24) | 1, 3, NULL),
    (299, 299, (100 << 24) | 2, 11, NULL), (299, 299, (100 << 24) | 2, 12, NULL), (299, 299, (100 << 24) | 2, 13, NULL),
    (300, 300, (100 << 24) | 2, 11, 1), (300, 300, (100 << 24) | 2, 12, 2), (300, 300, (100 << 24) | 2, 13, 3);
INSERT INTO call (start, end, correlation, name) VALUES (410, 420, 7, 'cudaGraphLaunch'), (610, 620, 8, 'cudaGraphLaunch');
INSERT INTO kernel (start, end, correlation, node, name) VALUES
    (450, 490, 7, 11, 'gemm'), (490, 530, 7, 12, 'bias'), (530, 555, 7, 13, 'gemm'),
    (650, 690, 8, 11, 'gemm'), (690, 730, 8, 12, 'bias'), (730, 755, 8, 13, 'gemm'), (760, 770, 8, 14, 'other');
