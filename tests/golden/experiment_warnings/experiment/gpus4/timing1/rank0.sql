-- [own schema] One of four ranks of two threads each: eight threads, and two cores.
INSERT INTO run (rank, world, pid) VALUES (0, 4, 400);
INSERT INTO range (start, end, pid, name) VALUES (0, 2000, 400, 'step');
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2'), ('env.OMP_NUM_THREADS', '2');
