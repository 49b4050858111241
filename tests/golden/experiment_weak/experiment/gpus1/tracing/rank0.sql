-- [own schema] Traced: 1320 a step, 20 % more than the median of the timing runs, 1100. GPU busy 900 of 1000: 90 %, of which
-- compute 500: 50 %.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2320, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2320, 3640, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO kernel (start, end, name) VALUES (0, 500, 'gemm');
INSERT INTO kernel (start, end, name) VALUES (600, 1000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');
