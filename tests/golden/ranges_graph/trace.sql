-- [own schema] A CUDA graph: its kernels belong to the ranges around the launch, and below them to the path of their capture.
--
-- main 0 .. 1000 holds capture 5 .. 250 with qkv 10 .. 110 (nodes 1 at 20, 2 at 30) and proj 120 .. 200 (node 3 at 130), and
-- replay 400 .. 900 with two launches (410 and 610) of the graph, whose nodes 11, 12, 13 are copies of 1, 2, 3.
-- Node 14 was made before the recording began: of it nothing but the launch is known.
-- A replay: 40 + 40 of qkv, 25 of proj; the second one has node 14, too, with 10. Kernels from 450 to 555, 650 to 755, 760 to 770.
--
-- replay: 40 + 40 + 25 + 40 + 40 + 25 + 10 = 220, 450 .. 770 = 320; main the same. At the capture nothing ran.
-- replay/capture: main is open at the launch and stands above already; 2 replays; 105 each, 105 + 105; 6 events.
-- replay/capture/qkv: 2 x 80; proj 2 x 25. They have no host time: NVTX did not run.
-- main: self 1000 - 245 - 500 = 255; capture: 245 - 100 - 80 = 65.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES
    (0, 1000, 'main'), (5, 250, 'capture'), (10, 110, 'qkv'), (120, 200, 'proj'), (400, 900, 'replay');
INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, graphNodeId, originalGraphNodeId) VALUES
    (20, 20, (100 << 24) | 1, 1, NULL), (30, 30, (100 << 24) | 1, 2, NULL), (130, 130, (100 << 24) | 1, 3, NULL),
    (299, 299, (100 << 24) | 1, 11, NULL), (299, 299, (100 << 24) | 1, 12, NULL), (299, 299, (100 << 24) | 1, 13, NULL),
    (300, 300, (100 << 24) | 1, 11, 1), (300, 300, (100 << 24) | 1, 12, 2), (300, 300, (100 << 24) | 1, 13, 3);
INSERT INTO call (start, end, correlation, name) VALUES (410, 420, 7, 'cudaGraphLaunch'), (610, 620, 8, 'cudaGraphLaunch');
INSERT INTO kernel (start, end, correlation, node, name) VALUES
    (450, 490, 7, 11, 'gemm'), (490, 530, 7, 12, 'bias'), (530, 555, 7, 13, 'gemm'),
    (650, 690, 8, 11, 'gemm'), (690, 730, 8, 12, 'bias'), (730, 755, 8, 13, 'gemm'), (760, 770, 8, 14, 'other');
