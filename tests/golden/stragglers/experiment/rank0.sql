-- [own schema] Two ranks, two steps: a product, the all-reduce of its gradients, the optimizer, all on one stream. In us, each from the begin of its step:
--            rank 0                                     rank 1
--   step 1   gemm 700, all-reduce 100, optimizer 50     gemm 500, all-reduce 100, optimizer 50
--   step 2   gemm 400, all-reduce 100, optimizer 50     gemm 800, all-reduce 140, optimizer 50
-- (all-reduce: its transfer, from when the later rank has come). T: 700 + 100 + 50 = 850 and 800 + 140 + 50 = 990, mean 920. Traced 930, which is 1.075 % more.
-- Usual: gemm (700 + 400 + 500 + 800) / 4 = 600, all-reduce 100 (median), optimizer 50. T_ideal 750, loss 170, S = 920 / 750 = 1.2267.
--   only rank 0's own times      700 + 150 = 850; max(400, 600) + 150 = 750: 800     800 / 750 = 1.0667, added  50 / 170 = 29.41 %
--   without rank 0's             max(600, 500) + 150 = 750; 990: 870                                     removed (920 - 870) / 170 = 29.41 %
--   only rank 1's                max(600, 500) + 150 = 750; 800 + 190 = 990: 870     870 / 750 = 1.16,   added 120 / 170 = 70.59 %
--   without rank 1's             850; max(400, 600) + 150 = 750: 800                                     removed 120 / 170 = 70.59 %
--   only gemms                   850; 800 + 150 = 950: 900                           900 / 750 = 1.2,    added 150 / 170 = 88.24 %
--   without gemms                750; 600 + 190 = 790: 770                                               removed 150 / 170 = 88.24 %
--   only all-reduces             770: 1.0267, added 20 / 170 = 11.76 %; without: 900, removed 11.76 %;   optimizer: 750 and 920, 0 %
-- Step 1 is longest by rank 0 alone: 850 / 750 = 1.1333. Step 2 by rank 1: 990 / 750 = 1.32. The slowest 3 % of two ranks are one: rank 1.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
INSERT INTO range (start, end, name) VALUES (0, 860000, 'step 1'), (860000, 1860000, 'step 2');
INSERT INTO call (start, end, correlation) VALUES
    (0, 1000, 1), (1000, 2000, 2), (2000, 3000, 3), (860000, 861000, 4), (861000, 862000, 5), (862000, 863000, 6);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (5000, 705000, 1, 'ampere_sgemm_128x64_tn'), (705000, 805000, 2, 'ncclDevKernel_AllReduce'), (805000, 855000, 3, 'multi_tensor_apply_kernel'),
    (865000, 1265000, 4, 'ampere_sgemm_128x64_tn'), (1265000, 1765000, 5, 'ncclDevKernel_AllReduce'), (1765000, 1815000, 6, 'multi_tensor_apply_kernel');
