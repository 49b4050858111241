-- [own schema] Traced: 1000 .. 3000, two steps: 1000, 5.26 % more. The GPU is busy 500 of these 2000: 25 %.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, domain, name) VALUES (0, 9000, 'lib', 'all'),
    (0, 1000, 'lib', 'work 1'), (1000, 2000, 'lib', 'work 2'), (2000, 3000, 'lib', 'work 3');
INSERT INTO call (start, end, correlation) VALUES (100, 110, 1), (1100, 1110, 2), (2100, 2110, 3);
INSERT INTO kernel (start, end, correlation, name) VALUES (200, 400, 1, 'gemm'), (1200, 1500, 2, 'gemm'), (2200, 2400, 3, 'gemm');
