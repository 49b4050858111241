-- [own schema] Idle gaps as objects: the longest first, with cause, what the host did, and the kernels around.
--
-- Two steps on thread 1: 1000 .. 2300, 2300 .. 3000; kernels on GPU 0. The device's window: 1000 .. 3000 (nothing was launched
-- before the first step, the last kernel ends before the last step does).
--   event   runs           launched by   gap before it          cause
--   a       1100 .. 1200   1010 .. 1020  1000 .. 1100 = 100     host: launched after the window began
--   b       1300 .. 1400   1280 .. 1290  1200 .. 1300 = 100     synchronization: cudaStreamSynchronize 1150 .. 1260
--   c       1420 .. 1500   1300 .. 1310  1400 .. 1420 = 20      dependency: launched before the gap
--   d       2500 .. 2600   2440 .. 2450  1500 .. 2500 = 1000    input: a "data" range 1550 .. 2200 holds 650 - of the 940 up to
--                                                               the launch half and more
--   e       2700 .. 2800   none          2600 .. 2700 = 100     other
--   the end                              2800 .. 3000 = 200     other: who launched e is not known
-- Idle 1520 of 2000: host 100, synchronization 100, input 1000, dependency 20, other 300.
--
-- What thread 1 did (ranges step, layer, data, read; calls), each ns to what was open and began last:
--   1500 .. 2500  data 1550 .. 2200 without the 200 of "read" within it: 450 = 45 %; step 50 before it and 2200 .. 2440,
--                 2450 .. 2500 behind it, of two steps: 340 = 34 %; read 20 %; cudaLaunchKernel, 10 = 1 %, is not among the
--                 first three. No range lies around all of it: a step ends in it.
--   2800 .. 3000  thread not known; 2600 .. 2700 likewise.
--   1000 .. 1100  step 1000 .. 1010 and 1020 .. 1100 = 90 %, cudaLaunchKernel 10 %, within step.
--   1200 .. 1300  cudaStreamSynchronize 1200 .. 1260 = 60 %, step 1260 .. 1280 and 1290 .. 1300 = 30 %, launch 10 %.
--   1400 .. 1420  layer, which lies around it: 100 %; "other thread" does not count.
-- Of equal length (100): by time. Since the rank's first record, at 1000: at = start - 1000. Kernel e belongs to no step: its
-- launch would say to which.
-- Of step 2 alone the window is 2300 .. 3000; its longest gap 2300 .. 2500, of 400 (300 other) idle: 200 / 500 = 40 %, is the
-- host's, since "data" ended before: step 190 = 95 %, cudaLaunchKernel 5 %, within the step.
-- By its full name c is shown where --names says so.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (1100, 1200, 1, 'a'), (1300, 1400, 2, 'b'), (1420, 1500, 3, 'void ns::c<float>(float*)'), (2500, 2600, 4, 'd'), (2700, 2800, 99, 'e');
INSERT INTO call (start, end, correlation) VALUES (1010, 1020, 1), (1280, 1290, 2), (1300, 1310, 3), (2440, 2450, 4);
INSERT INTO call (start, end, name) VALUES (1150, 1260, 'cudaStreamSynchronize');
INSERT INTO range (start, end, name) VALUES (1000, 2300, 'step'), (2300, 3000, 'step'), (1390, 1430, 'layer'), (1600, 1800, 'read');
INSERT INTO range (start, end, domain, name) VALUES (1550, 2200, 'swinscope', 'data');
INSERT INTO range (start, end, thread, name) VALUES (1000, 2900, 2, 'other thread');
