-- [own schema] One of two ranks on two GPUs: two steps of 60.2 ms.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 201);
INSERT INTO range (start, end, pid, name) VALUES (0, 60200000, 201, 'step'), (60200000, 120400000, 201, 'step');
INSERT INTO kernel (start, end, pid, device, name) VALUES (0, 60200000, 201, 1, 'gemm'), (60200000, 120400000, 201, 1, 'gemm');
