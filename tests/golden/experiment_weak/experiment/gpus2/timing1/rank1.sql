-- [own schema] The slowest rank: 1250 a step. CPU in the window 1000 .. 3500: 2500 of 2500 x 4 cores: 25 %.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 300);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 300, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2250, 300, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2250, 3500, 300, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO cpu (at, pid, ns) VALUES (1000, 300, 0), (3500, 300, 2500);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '4');
