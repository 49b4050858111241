-- [own schema] Only a trace, without our payloads: 2 steps of 900.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 900, 'step 1'), (900, 1800, 'step 2');
INSERT INTO kernel (start, end, name) VALUES (100, 600, 'gemm'), (1000, 1100, 'gemm');
