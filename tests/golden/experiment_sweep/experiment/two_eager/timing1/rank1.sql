-- [own schema] Behind the warm-up step two steps of 1250.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 101);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 101, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2250, 101, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2250, 3500, 101, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
