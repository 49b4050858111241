-- [own schema] A loader worker of rank 0: no steps, and its CPU time counts with its rank.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 201);
INSERT INTO range (start, end, pid, name) VALUES (1500, 1600, 201, 'decode');
INSERT INTO cpu (at, pid, ns) VALUES (1000, 201, 0), (3200, 201, 1100);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '4');
