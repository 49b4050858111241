-- [own schema] A command whose lines came in two blocks.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO process (pid, parent, rank) VALUES (100, NULL, 0);
