-- [own schema] Behind the warm-up step two steps of 1250.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2250, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2250, 3500, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
