-- [own schema] Rank 5 of eight; only ranks 2 and 5 are here.
INSERT INTO run (rank, world, pid) VALUES (5, 8, 105);
INSERT INTO range (start, end, pid, name) VALUES (1000, 2000, 105, 'work');
