-- [own schema] Launches that a thread makes while it captures a CUDA graph become nodes of the graph, and have no kernel.
--
-- The calls 1 (10 to 20) and 2 (30 to 40) are captured: nodes 1 and 2 came into being within them, at 15 and 35. Call 3 (50 to 60)
-- has neither a node nor a kernel, and the thread launched a kernel that is there after it (call 4): one kernel is missing. A node
-- of another thread at 55 (node 3, thread 2) is not of call 3. The copies 11 and 12 of the nodes, at 65, are no captures.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO call (start, end, correlation, name) VALUES
    (10, 20, 1, 'cudaLaunchKernel'), (30, 40, 2, 'cudaLaunchKernel'), (50, 60, 3, 'cudaLaunchKernel'), (70, 80, 4, 'cudaLaunchKernel');
INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, graphNodeId, originalGraphNodeId) VALUES
    (15, 15, (100 << 24) | 1, 1, NULL), (35, 35, (100 << 24) | 1, 2, NULL), (55, 55, (100 << 24) | 2, 3, NULL),
    (65, 65, (100 << 24) | 1, 11, 1), (65, 65, (100 << 24) | 1, 12, 2);
INSERT INTO kernel (start, end, correlation, name) VALUES (90, 100, 4, 'gemm');
