-- [own schema] With tracing 2500: 25 % longer. The other ranks' files are missing; the world size tells of them.
INSERT INTO run (rank, world, pid) VALUES (0, 4, 400);
INSERT INTO range (start, end, pid, name) VALUES (0, 2500, 400, 'step');
