-- [own schema] Traced 1350 a step; the times of two untraced runs were given: 1000 and 1250.
INSERT INTO run (rank, world, pid) VALUES (0, 4, 100);
INSERT INTO range (start, end, name) VALUES (0, 1350, 'step 1');
