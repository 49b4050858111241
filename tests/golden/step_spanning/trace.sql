-- [own schema] A GPU record belongs to the step whose host range holds its launch, wherever it runs. Steps 1000 .. 2000 .. 3000.
--
--   kernel         launched    runs           belongs to
--   gemm           500         600 .. 1600    no step (before the first), though it runs into step 1
--   gemm           1900        2100 .. 2300   step 1, though it runs in step 2
--   gemm           2100        2300 .. 2400   step 2
--   layer_norm     2950        3100 .. 3200   step 2, though it runs after it
--   layer_norm     3050        3200 .. 3500   no step (after the last)
--   layer_norm     unknown     2400 .. 2500   no step: its launch was not recorded
--
-- Per step: gemm (200 + 100) / 2 = 150, of 1300 in all; layer_norm 100 / 2 = 50, of 500 in all. busy 1800: 72.22... %, 27.77... %.
-- gemm: mean 1300 / 3, median 200, p95 200 + 0.9 x 800 = 920, p99 200 + 0.98 x 800 = 984.
-- layer_norm: mean 500 / 3, median 100, p95 100 + 0.9 x 200 = 280, p99 100 + 0.98 x 200 = 296.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (1000, 2000, 'swinscope', 'step 1'), (2000, 3000, 'swinscope', 'step 2');
INSERT INTO call (start, end, correlation) VALUES (500, 510, 1), (1900, 1910, 2), (2100, 2110, 3), (2950, 2960, 4), (3050, 3060, 5);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (600, 1600, 1, 'gemm'), (2100, 2300, 2, 'gemm'), (2300, 2400, 3, 'gemm'),
    (3100, 3200, 4, 'layer_norm'), (3200, 3500, 5, 'layer_norm'), (2400, 2500, NULL, 'layer_norm');
