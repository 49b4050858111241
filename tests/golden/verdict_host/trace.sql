-- [own schema] Bound by the host, with steps: the waits before the first kernel and after the last one count.
--
-- Idle 0 .. 100 (launched 50: host), layer_norm 100 .. 200, idle 200 .. 600 (launched 550: host), gemm 600 .. 700, idle 700 .. 900 (the host is blocked in
-- cudaStreamSynchronize 650 .. 850: counted as host), gelu 900 .. 1000, idle 1000 .. 1200 (launched 1150: host), gemm 1200 .. 1700.
-- Idle 1700 .. 4002, the end of the second step: nothing was launched any more (host).
-- Of 4002: host 100 + 400 + 200 + 200 + 2302 = 3202 = 80.01 %, compute 600 = 14.99 %, memory 200 = 5.00 %.
-- Per step 1601, 300 and 100 of 2001.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1500, 'swinscope', 'step'), (1500, 4002, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES
    (100, 200, 1, 'layer_norm_kernel'), (600, 700, 2, 'sm90_xmma_gemm'), (900, 1000, 3, 'gelu_kernel'), (1200, 1700, 4, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (50, 60, 1), (550, 560, 2), (870, 880, 3), (1150, 1160, 4);
INSERT INTO call (start, end, name) VALUES (650, 850, 'cudaStreamSynchronize');
