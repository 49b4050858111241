-- [own schema] Traced: 1320 a step, 20 % more than the median of the timing runs, 1100. Of the 2640 behind the warm-up
-- step the GPU is busy 2376: 90 %, of which compute 1320: 50 %.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2320, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2320, 3640, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO kernel (start, end, name) VALUES (0, 500, 'gemm'), (900, 1000, 'gemm'), (1000, 2320, 'gemm');
INSERT INTO kernel (start, end, name) VALUES (2320, 3376, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');
