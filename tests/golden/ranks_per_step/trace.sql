-- [nsys 3.25] Per step, by rank and over all ranks: each rank has its own steps, and the whole is per step and rank.
--
-- rank 0: steps 0 .. 1000 .. 2000, kernels of 100 (launched 50) and 300 (launched 1050): 400 / 2 = 200 per step
-- rank 1: one step 0 .. 1500, a kernel of 500 (launched 60): 500 per step; a kernel of 100 launched after it belongs to none
-- all:    900 / 3 = 300 per step, total 1000, busy 1000: 100 %. Mean 250, median 200, p95 300 + 0.85 x 200 = 470,
--         p99 300 + 0.97 x 200 = 494.
-- rank 0: total 400, busy 400, mean and median 200, p95 100 + 0.95 x 200 = 290, p99 298.
-- rank 1: total 600, busy 600, mean and median 300, p95 100 + 0.95 x 400 = 480, p99 496.
INSERT INTO range (start, end, pid, name) VALUES
    (0, 1000, 100, 'ProfilerStep#1'), (1000, 2000, 100, 'ProfilerStep#2'), (0, 1500, 200, 'ProfilerStep#1');
INSERT INTO call (start, end, pid, correlation) VALUES
    (50, 60, 100, 1), (1050, 1060, 100, 2), (60, 70, 200, 1), (1500, 1510, 200, 2);
INSERT INTO kernel (start, end, pid, device, correlation, name) VALUES
    (100, 200, 100, 0, 1, 'a'), (1100, 1400, 100, 0, 2, 'a'), (100, 600, 200, 1, 1, 'a'), (1600, 1700, 200, 1, 2, 'a');
