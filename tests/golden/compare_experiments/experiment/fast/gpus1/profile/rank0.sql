-- [own schema] What the framework's own profiler recorded: kernels 100, operations 300.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name) VALUES (0, 300, 100, 'torch.cpu_op', 'aten::linear');
INSERT INTO kernel (start, end, name) VALUES (100, 200, 'gemm');
