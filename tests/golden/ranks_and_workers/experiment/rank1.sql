-- [own schema] Ranks are counted, not files: rank 1 of two, whose two workers have files of their own.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 101);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 101, 'work');
