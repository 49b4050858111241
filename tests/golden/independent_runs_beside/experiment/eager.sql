-- [own schema] A program of its own: four steps of 2000 with 4 images each.
INSERT INTO SWINSCOPE_RUN (schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete)
VALUES (1, 'swinscope', '', 0, 0, 100 << 24, 'node', 'train --level eager', 1);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 2000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2000, 4000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (4000, 6000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (6000, 8000, 100, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
