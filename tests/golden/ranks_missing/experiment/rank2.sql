-- [own schema] Rank 2 of eight; only ranks 2 and 5 are here.
INSERT INTO run (rank, world, pid) VALUES (2, 8, 102);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 102, 'work');
