-- [own schema] Two ranks, which print into one output and share one core.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO process (pid, parent, rank) VALUES (90, NULL, NULL), (100, 90, 0), (101, 90, 1);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '1');
