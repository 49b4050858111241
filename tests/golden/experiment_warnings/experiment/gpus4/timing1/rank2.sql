-- [own schema] One of four ranks of two threads each: eight threads, and two cores.
INSERT INTO run (rank, world, pid) VALUES (2, 4, 402);
INSERT INTO range (start, end, pid, name) VALUES (0, 2000, 402, 'step');
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2'), ('env.OMP_NUM_THREADS', '2');
