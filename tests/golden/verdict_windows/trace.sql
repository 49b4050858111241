-- [own schema] CUDA was recorded in two windows, with a step in each: the device was not idle in between, nobody looked.
--
-- gemm 1100 .. 1900 and gelu 1900 .. 2000 in the first, gemm 101100 .. 102000 in the second window; each step begins 100 before
-- (launched then: host). Of 2000: compute 800 + 900 = 1700 = 85 %, memory 100 = 5 %, host 200 = 10 %; per step half of it.
INSERT INTO run (rank) VALUES (0);
INSERT INTO SWINSCOPE_WINDOW (start, end) VALUES (900, 2100), (100900, 102100);
INSERT INTO range (start, end, domain, name) VALUES (1000, 2000, 'swinscope', 'step'), (50000, 51000, 'swinscope', 'step'),
    (101000, 102000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES
    (1100, 1900, 1, 'sm90_xmma_gemm'), (1900, 2000, 2, 'gelu_kernel'), (101100, 102000, 3, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (1010, 1020, 1), (1030, 1040, 2), (101010, 101020, 3);
