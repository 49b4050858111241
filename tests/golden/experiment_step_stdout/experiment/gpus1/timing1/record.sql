-- [own schema] No process recorded itself: the command is rank 0, and its output was kept.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO process (pid, parent, rank) VALUES (100, NULL, 0);
