-- [own schema] Worker 1 of rank 0.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 201);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 201, 'load');
