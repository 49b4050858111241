-- [own schema] Worker 0 of rank 1.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 210);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 210, 'load');
