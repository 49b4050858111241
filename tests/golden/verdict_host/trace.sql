-- [own schema] Bound by the host, with steps: the shares of the device time are applied to the mean step.
--
-- layer_norm 100 .. 200, idle 200 .. 600 (launched 550: host), gemm 600 .. 700, idle 700 .. 900 (the host is blocked in
-- cudaStreamSynchronize 650 .. 850: counted as host), gelu 900 .. 1000, idle 1000 .. 1200 (launched 1150: host), gemm 1200 .. 1700.
-- Of 1600: host 400 + 200 + 200 = 800 = 50 %, compute 600 = 37.5 %, memory 200 = 12.5 %.
-- Steps of 1500 and 2502, mean 2001: 1000.5, 750.375 and 250.125 per step, rounded.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1500, 'swinscope', 'step'), (1500, 4002, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES
    (100, 200, 1, 'layer_norm_kernel'), (600, 700, 2, 'sm90_xmma_gemm'), (900, 1000, 3, 'gelu_kernel'), (1200, 1700, 4, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (50, 60, 1), (550, 560, 2), (870, 880, 3), (1150, 1160, 4);
INSERT INTO call (start, end, name) VALUES (650, 850, 'cudaStreamSynchronize');
