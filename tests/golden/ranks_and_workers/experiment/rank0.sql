-- [own schema] Ranks are counted, not files: rank 0 of two, whose two workers have files of their own.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 100, 'work');
