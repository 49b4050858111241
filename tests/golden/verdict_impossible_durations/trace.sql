-- [own schema] A kernel that is said to last longer than the stream it runs on allows: no verdict is built upon it.
--
-- gemm 0 .. 9000 on stream 7, which also runs gelu 3000 .. 4000 and gemm 5000 .. 6000: the first one holds both, so its 9000 of 10000 are
-- wrong. gelu 9000 .. 10000. A kernel of another stream may lie within it (8000 .. 8100).
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, stream, name) VALUES
    (0, 9000, 7, 'sm90_xmma_gemm'), (3000, 4000, 7, 'gelu_kernel'), (5000, 6000, 7, 'sm90_xmma_gemm'), (9000, 10000, 7, 'gelu_kernel'),
    (8000, 8100, 8, 'gelu_kernel');
