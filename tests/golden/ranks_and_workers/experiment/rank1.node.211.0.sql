-- [own schema] Worker 1 of rank 1.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 211);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 211, 'load');
