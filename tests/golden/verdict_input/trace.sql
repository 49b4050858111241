-- [own schema] Bound by the input: the thread that launches waits for the next batch.
--
-- gemm 0 .. 200, idle 200 .. 800 (launched 770, after enumerate(DataLoader) 150 .. 750), gelu 800 .. 900, copy 900 .. 1000.
-- input 600 = 60 %, compute 200 = 20 %, memory 100 = 10 %, copies between host and device 100 = 10 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, correlation, name) VALUES (0, 200, 1, 'sm90_xmma_gemm'), (800, 900, 2, 'gelu_kernel');
INSERT INTO copy (start, end, correlation, bytes) VALUES (900, 1000, 3, 100);
INSERT INTO call (start, end, correlation) VALUES (770, 780, 2), (790, 795, 3);
INSERT INTO range (start, end, domain, name) VALUES
    (150, 750, 'torch.user_annotation', 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__');
