-- [own schema] A program of its own: four steps of 1000 with 4 images each.
INSERT INTO SWINSCOPE_RUN (schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete)
VALUES (1, 'swinscope', '', 0, 0, 200 << 24, 'node', 'train --level graph', 1);
INSERT INTO range (start, end, pid, domain, name, payload) VALUES
    (0, 1000, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (1000, 2000, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (2000, 3000, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}'),
    (3000, 4000, 200, 'swinscope', 'step', '{"$schema":"swinscope.step/1","images":4}');
