-- [own schema] Two ranks, which print into one output.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO process (pid, parent, rank) VALUES (90, NULL, NULL), (100, 90, 0), (101, 90, 1);
