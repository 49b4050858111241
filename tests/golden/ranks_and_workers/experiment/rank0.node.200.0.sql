-- [own schema] Worker 0 of rank 0.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 200);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 200, 'load');
