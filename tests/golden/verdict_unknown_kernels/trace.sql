-- [own schema] Kernels of which nothing is known are neither compute nor memory: no verdict where they could turn it over.
--
-- render 0 .. 500 (no rule knows it), gemm 500 .. 800, gelu 800 .. 1000. Of 1000: unknown 500 = 50 %, compute 300 = 30 %, memory 200 = 20 %.
-- compute leads memory by 10 %, less than the unknown 50 %: not known, with the name.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, correlation, name) VALUES (0, 500, 1, 'render'), (500, 800, 2, 'sm90_xmma_gemm'), (800, 1000, 3, 'gelu_kernel');
