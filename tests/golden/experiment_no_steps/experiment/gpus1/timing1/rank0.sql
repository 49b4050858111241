-- [own schema] Nothing marks a step.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 1000, 'epoch');
