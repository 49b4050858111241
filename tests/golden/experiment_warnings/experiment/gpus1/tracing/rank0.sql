-- [own schema] With tracing 773: 22.7 % less.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 773, 'step');
