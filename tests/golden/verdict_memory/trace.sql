-- [own schema] Bound by memory: kernels that move data. A copy to the host with nothing else running is a bound of its own.
--
-- gelu 0 .. 500, copy 500 .. 700, layer_norm 700 .. 800, gemm 800 .. 1000: memory 500 + 100 = 60 %, copies between host and
-- device 20 %, compute 20 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, name) VALUES (0, 500, 'gelu_kernel'), (700, 800, 'layer_norm_kernel'), (800, 1000, 'sm90_xmma_gemm');
INSERT INTO copy (start, end, kind, src, dst, bytes) VALUES (500, 700, 2, 2, 1, 1000);
