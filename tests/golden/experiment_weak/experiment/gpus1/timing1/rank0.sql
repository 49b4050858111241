-- [own schema] The first step is warm-up. Window 1000 .. 3000, 2 steps: 1000. CPU 2000 of 2000 x 2 cores: 50 %.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2000, 3000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO cpu (at, pid, ns) VALUES (1000, 100, 500), (3000, 100, 2500);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2');
