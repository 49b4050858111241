-- [own schema] Modules of a program under `record --torch-modules`: a GPU event belongs to the innermost range around its launch.
--
-- Forward on thread 1: the model's range holds that of 0.fc; 0.fc launches kernels of 10 and 20, the model itself one of 5.
-- Backward on thread 2, a range for each autograd node: 0.fc twice (30 and 40 on the GPU). What is launched between them (the
-- gradient's accumulation) belongs to no module. The same name in another domain is somebody else's.
-- What a module costs is not known: no FLOPs and bytes.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, name) VALUES
    (0, 300, 1, 'torch.nn:Sequential'), (50, 150, 1, 'torch.nn:0.fc'),
    (400, 440, 2, 'torch.nn.backward:0.fc'), (450, 520, 2, 'torch.nn.backward:0.fc');
INSERT INTO range (start, end, thread, domain, name) VALUES (60, 80, 1, 'other', 'torch.nn:0.norm');
INSERT INTO call (start, end, thread, correlation) VALUES
    (70, 75, 1, 1), (100, 105, 1, 2), (200, 205, 1, 3), (410, 415, 2, 4), (445, 447, 2, 5), (460, 465, 2, 6);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (80, 90, 1, 'gemm'), (110, 130, 2, 'bias'), (210, 215, 3, 'add'), (420, 450, 4, 'gemm'), (455, 459, 5, 'accumulate'),
    (470, 510, 6, 'gemm');
