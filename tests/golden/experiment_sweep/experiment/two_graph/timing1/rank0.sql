-- [own schema] Behind the warm-up step two steps of 320.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 1320, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1320, 1640, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
