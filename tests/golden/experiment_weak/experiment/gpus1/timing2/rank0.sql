-- [own schema] Window 1000 .. 3200, 2 steps: 1100. CPU: a third of the samples' time before the window; 2200 of 2200 x 2 cores: 50 %.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2100, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2100, 3200, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO cpu (at, pid, ns) VALUES (0, 100, 0), (3200, 100, 3200);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '2');
