-- [own schema] Nothing is annotated, but one CUDA graph is launched four times: three steps, each up to the next launch.
--
-- Launches at 0, 1000, 2100, 3000; of another graph once, at 50. Steps of 1000, 1100 and 900: window 0 .. 3000, step time 1000.
INSERT INTO run (rank) VALUES (0);
INSERT INTO call (start, end, correlation, name) VALUES (0, 10, 1, 'cudaGraphLaunch_v10000'), (50, 60, 9, 'cudaGraphLaunch_v10000'),
    (1000, 1010, 2, 'cudaGraphLaunch_v10000'), (2100, 2110, 3, 'cudaGraphLaunch_v10000'), (3000, 3010, 4, 'cudaGraphLaunch_v10000');
INSERT INTO kernel (start, end, correlation, node, name) VALUES (100, 200, 1, 7, 'a'), (300, 400, 9, 8, 'b'), (1100, 1200, 2, 7, 'a'),
    (2200, 2300, 3, 7, 'a'), (3100, 3200, 4, 7, 'a');
