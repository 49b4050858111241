-- [own schema] Window 1000 .. 3400, 2 steps: 1200. The CPU was not sampled.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2200, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2200, 3400, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
