-- [own schema] One of two ranks, in a point that says that there is one.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 501);
INSERT INTO range (start, end, pid, name) VALUES (0, 1000, 501, 'step');
