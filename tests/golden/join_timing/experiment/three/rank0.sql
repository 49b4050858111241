-- [own schema] Rank 0 of three; the files of the others are missing.
INSERT INTO run (rank, world, pid) VALUES (0, 3, 300);
INSERT INTO range (start, end, pid, name) VALUES (0, 1000, 300, 'step'), (1000, 2000, 300, 'step');
