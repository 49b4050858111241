-- [own schema] One of four ranks of two threads each: eight threads, and two cores.
INSERT INTO run (rank, world, pid) VALUES (1, 4, 401);
INSERT INTO range (start, end, pid, name) VALUES (0, 2000, 401, 'step');
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2'), ('env.OMP_NUM_THREADS', '2');
