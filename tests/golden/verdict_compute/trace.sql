-- [own schema] Bound by compute: matrix products for most of the time.
--
-- gemm 0 .. 400, gelu 400 .. 650, idle 650 .. 800 (the next launch, at 600, was in time: dependency), gemm 800 .. 1000.
-- compute 600 = 60 %, memory (gelu) 250 = 25 %, other (dependency) 150 = 15 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, correlation, name) VALUES (0, 400, 1, 'sm90_xmma_gemm'), (400, 650, 2, 'gelu_kernel'), (800, 1000, 3, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (600, 610, 3);
