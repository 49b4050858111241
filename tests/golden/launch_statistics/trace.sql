-- [own schema] API time, queue time, launch delay, queue length; a driver call nested in a runtime call under one id.
--
--   call (id)                               kernel                   API   queue  delay
--   10 runtime 1000 .. 1010 (driver inside) 1050 .. 1150             10    40     50
--   11 runtime 1020 .. 1040                 1030 .. 1130 (stream 8)  20    0      10   starts before its call ends
--   12 cudaGraphLaunch 1100 .. 1200         1300 .. 1400 (node 1)    100   100    200
--                                           1400 .. 1450 (node 2)    (1 call) 200 300
--   13 cudaMemcpyAsync                      a copy: not a kernel, not counted
--    5 not recorded, smaller than any       900 .. 950               launched before the recording
--   40 not recorded, larger than some       1500 .. 1550             not recorded
--    - no id                                1600 .. 1710             not recorded
--
-- 7 kernels, 4 joined, 1 before, 2 not recorded.
-- API:   10, 20, 100: total 130, median 20, p99 20 + 0.98 x 80 = 98.4 -> 98
-- queue: 0, 40, 100, 200: median 70, p99 100 + 0.97 x 100 = 197
-- delay: 10, 50, 200, 300: median 125, p99 200 + 0.97 x 100 = 297, sum (TKLQT) 560
-- AKD:   (100 + 100 + 100 + 50 + 50 + 50 + 110) / 7 = 80
-- queue length: 1 from 1000, 2 from 1020, 1 from 1030, 0 from 1050, 2 from 1100, 1 from 1300, 0 from 1400: at most 2,
--        mean (20 + 20 + 20 + 0 + 400 + 100) / 400 = 560 / 400 = 1.4
INSERT INTO run (rank) VALUES (0);
INSERT INTO call (start, end, correlation, name, driver) VALUES
    (1000, 1010, 10, 'cudaLaunchKernel', 0), (1002, 1008, 10, 'cuLaunchKernel', 1), (1020, 1040, 11, 'cudaLaunchKernel', 0),
    (1100, 1200, 12, 'cudaGraphLaunch', 0), (1210, 1220, 13, 'cudaMemcpyAsync', 0);
INSERT INTO kernel (start, end, stream, correlation, node, name) VALUES
    (1050, 1150, 7, 10, NULL, 'a'), (1030, 1130, 8, 11, NULL, 'a'), (1300, 1400, 7, 12, 1, 'a'), (1400, 1450, 7, 12, 2, 'a'),
    (900, 950, 7, 5, NULL, 'a'), (1500, 1550, 7, 40, NULL, 'a'), (1600, 1710, 7, NULL, NULL, 'a');
INSERT INTO copy (start, end, correlation, bytes) VALUES (1800, 1900, 13, 100);
