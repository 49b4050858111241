-- [own schema] 1100 a step. CPU in the window 1000 .. 3200: 1100 itself.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 200);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2100, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2100, 3200, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
INSERT INTO cpu (at, pid, ns) VALUES (1000, 200, 0), (3200, 200, 1100);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '4');
