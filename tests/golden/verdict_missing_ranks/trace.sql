-- [own schema] One rank of a job of eight: its all-reduce cannot be told apart into waiting and transfer, and that seven ranks are missing is said.
--
-- gemm 0 .. 300, all-reduce 300 .. 1000: communication 700 = 70 %, compute 300 = 30 %.
INSERT INTO run (rank, world) VALUES (3, 8);
INSERT INTO kernel (start, end, correlation, name) VALUES (0, 300, 1, 'sm90_xmma_gemm'), (300, 1000, 2, 'ncclDevKernel_AllReduce_Sum_f16_RING_LL');
