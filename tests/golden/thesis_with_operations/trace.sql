-- [own schema] The thesis's definition: summed kernel time over summed kernel and CPU operation self time.
--
-- Operations: thread 1: 1000 .. 2000 with 1200 .. 1500 and, in that, 1250 .. 1350 inside: self times 700 + 200 + 100 = 1000;
--   thread 2: 1000 .. 1500 = 500. Sum 1500. Ranges of other domains (user annotations, NVTX) are no operations.
-- Kernels: 300 and 200, overlapping or not: 500. A copy is no kernel.
-- GPU share 500 / 2000 = 25 %, CPU share 75 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (1000, 2000, 1, 'torch.cpu_op', 'aten::linear'), (1200, 1500, 1, 'torch.cpu_op', 'aten::addmm'),
    (1250, 1350, 1, 'torch.cpu_op', 'aten::empty'), (1000, 1500, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function'),
    (900, 9000, 1, 'torch.user_annotation', 'forward'), (900, 9000, 1, '', 'nvtx');
INSERT INTO kernel (start, end, stream, name) VALUES (2000, 2300, 7, 'a'), (2100, 2300, 8, 'b');
INSERT INTO copy (start, end, bytes) VALUES (3000, 4000, 100);
