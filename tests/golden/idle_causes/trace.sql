-- [own schema] Every cause of idle once; the causes sum to the idle time.
--
-- Kernels a .. f on stream 7, a collective on stream 20; all launches from thread 1.
--   event          runs          gap before it        launched        cause
--   a              1000 .. 1100  -                    900
--   b              1300 .. 1400  1100 .. 1300 = 200   1210            input: thread 1 is in a "data" range 1050 .. 1200
--   c              1500 .. 1600  1400 .. 1500 = 100   1460            synchronization: cudaDeviceSynchronize 1350 .. 1450
--   d              1650 .. 1700  1600 .. 1650 = 50    1620            host (the "data" range 1590 .. 1640 is a loader thread's)
--   e              1725 .. 1800  1700 .. 1725 = 25    1640, before    dependency
--   all-reduce     1810 .. 2000  1800 .. 1810 = 10    1660, before    communication: a collective
--   f              2005 .. 2100  2000 .. 2005 = 5     1670, before    communication: waited for it on another stream
--   g              2103 .. 2200  2100 .. 2103 = 3     not recorded    other
-- host 50, synchronization 100, input 200, communication 15, dependency 25, other 3: idle 393.
-- window 1200, busy 100 + 100 + 100 + 50 + 75 + 190 + 95 + 97 = 807 = 1200 - 393 = 67.25 %.
-- gpu_compute: without the collective (807 - 190) / 1200 = 617 / 1200 = 51.41... %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, stream, correlation, name) VALUES
    (1000, 1100, 7, 1, 'a'), (1300, 1400, 7, 2, 'b'), (1500, 1600, 7, 3, 'c'), (1650, 1700, 7, 4, 'd'),
    (1725, 1800, 7, 5, 'e'), (1810, 2000, 20, 6, 'ncclDevKernel_AllReduce'), (2005, 2100, 7, 7, 'f'), (2103, 2200, 7, 99, 'g');
INSERT INTO call (start, end, correlation) VALUES
    (900, 950, 1), (1210, 1230, 2), (1460, 1470, 3), (1620, 1630, 4), (1640, 1645, 5), (1660, 1665, 6), (1670, 1675, 7);
INSERT INTO call (start, end, name) VALUES (1350, 1450, 'cudaDeviceSynchronize');
INSERT INTO range (start, end, thread, domain, name) VALUES (1050, 1200, 1, 'swinscope', 'data'), (1590, 1640, 2, 'swinscope', 'data');
