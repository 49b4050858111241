-- [own schema] Two steps of 33.11 ms: 10 % longer than the 30.1 ms that were measured without tracing.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 33110000, 'step'), (33110000, 66220000, 'step');
INSERT INTO kernel (start, end, name) VALUES (0, 33110000, 'gemm'), (33110000, 66220000, 'gemm');
