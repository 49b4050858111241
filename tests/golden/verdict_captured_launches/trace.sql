-- [own schema] Launches that were captured into a graph have no kernel of their own, and are no reason to doubt a verdict.
--
-- gemm 100 .. 900 (launched 50) of a step 0 .. 1000. The launches 2 (70 to 80) and 3 (90 to 95) became nodes within their calls, at 75 and
-- 92: one launch is left, and it has its kernel. Idle 0 .. 100 and 900 .. 1000: host. compute 800 = 80 %, host 200 = 20 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES (100, 900, 1, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (50, 60, 1), (70, 80, 2), (90, 95, 3);
INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, globalTid, graphNodeId, originalGraphNodeId)
    SELECT column1, column1, globalTid, column2, NULL FROM (VALUES (75, 1), (92, 2)), (SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME);
