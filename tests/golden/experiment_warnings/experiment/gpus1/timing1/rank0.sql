-- [own schema] A step of 1000, on one of two cores.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 1000, 'step');
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2');
