-- [own schema] A graph is launched at 0, 1000, 2100, 3000: three steps, of which the first is warm-up. The device's window begins
-- at 1000 and ends at 3000, two steps: 1000. Ranges in it mark nothing here.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, name) VALUES (0, 4000, 'step');
INSERT INTO call (start, end, correlation, name) VALUES (0, 10, 1, 'cudaGraphLaunch_v10000'),
    (1000, 1010, 2, 'cudaGraphLaunch_v10000'), (2100, 2110, 3, 'cudaGraphLaunch_v10000'), (3000, 3010, 4, 'cudaGraphLaunch_v10000');
INSERT INTO kernel (start, end, correlation, node, name) VALUES (100, 200, 1, 7, 'a'), (1100, 1200, 2, 7, 'a'),
    (2200, 2300, 3, 7, 'a'), (3100, 3200, 4, 7, 'a');
