-- [own schema] Four steps of 2000 with 4 images each.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 2000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2000, 4000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (4000, 6000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (6000, 8000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
