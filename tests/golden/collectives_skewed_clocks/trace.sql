-- [nsys 3.25] Two processes whose clocks do not agree (the second one's is 10 ms behind): what a collective waits is then its duration less the
-- shortest one of all ranks, and the verdict's doubts say so.
--
-- GPU 0: gemm 0 .. 100000, all-reduce 100000 .. 400000 (300 us). GPU 1: gemm 10000000 .. 10300000, all-reduce 10300000 .. 10400000 (100 us).
-- Transfer 100 us each; GPU 0 waits 200 us. Windows 400 us each. Parts, mean of two: waiting 100 us = 25 %, transfer 100 us = 25 %,
-- compute (100 + 300) / 2 = 200 us = 50 %.
INSERT INTO kernel (start, end, pid, device, stream, correlation, name) VALUES
    (0, 100000, 100, 0, 7, 1, 'sm90_xmma_gemm'), (100000, 400000, 100, 0, 20, 2, 'ncclDevKernel_AllReduce'),
    (10000000, 10300000, 200, 1, 7, 1, 'sm90_xmma_gemm'), (10300000, 10400000, 200, 1, 20, 2, 'ncclDevKernel_AllReduce');
