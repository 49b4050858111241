-- [own schema] One of two ranks on two GPUs: two steps of 60.2 ms.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 200);
INSERT INTO range (start, end, pid, name) VALUES (0, 60200000, 200, 'step'), (60200000, 120400000, 200, 'step');
INSERT INTO kernel (start, end, pid, device, name) VALUES (0, 60200000, 200, 0, 'gemm'), (60200000, 120400000, 200, 0, 'gemm');
