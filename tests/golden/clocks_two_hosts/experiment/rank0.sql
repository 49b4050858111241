-- [own schema] Two hosts whose clocks differ by 3 ms and drift by 40 ppm: aligned by the ends of 24 collectives, of which one is an outlier.
--
-- The clock of rank 0 is the reference. Where rank 1's shows t, it shows m(t) = t + 3000000 + t / 25000 (40 ppm). All times of rank 1 are
-- multiples of 25 us, so that m is whole. Rank 1 (rank1.sql), k = 0 .. 23, a step each 10 ms: gemm of 50 us, with which the step begins, then
-- the all-reduce up to 10000000 k + 400000, which takes 150 us for even k and 300 us for odd k; the step ends 3 ms later.
-- Rank 0 ends each at the same time, e = m(10000000 k + 400000) = 10000400 k + 3400016. Its all-reduce takes 250 us for even k, 100 us for
-- odd k, after a gemm of 50 us. The one of k = 13 is the outlier: its end is recorded 2 ms late.
--
-- Alignment: m at the middle of rank 1's ends, (400000 + 230400000) / 2 = 115400000, is 3000000 + 4616 ahead; drift 40 ppm; of the 24
-- residuals 23 are 0, so that their p95 (position 21.85) is 0.
-- Even k: rank 1 comes last, at m(e1 - 150000) = e - 150006. Rank 0 waits 250000 - 150006 = 99994 and transfers 150006; rank 1 transfers 150000.
-- Odd k: rank 0 comes last, at e - 100000. Rank 1 began at e - 300012, waits 200012 and transfers 99988; rank 0 transfers 100000, the outlier
-- 2100000.
--   rank 0: wait 12 x 99994 = 1199928, transfer 12 x 150006 + 11 x 100000 + 2100000 = 5000072, together 6200000
--   rank 1: wait 12 x 200012 = 2400144, transfer 12 x 150000 + 12 x 99988 = 2999856, together 5400000
-- By durations alone rank 0 would wait 12 x 100000 + 1800000 and rank 1 11 x 200000.
-- Compute 24 x 50000 = 1200000 each. Windows: rank 0 from 3400016 - 300000 to 10000400 x 23 + 6400016 = 236409216: 233309200, idle
-- 225909200 (96.83 %); rank 1 from 200000 to 233400000: 233200000, idle 226600000 (97.17 %).
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
UPDATE SWINSCOPE_RUN SET host = 'alpha';
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23),
     c (k, e, length) AS (SELECT k, 10000400 * k + 3400016, iif(k % 2, 100000, 250000) FROM k)
INSERT INTO kernel (start, end, stream, correlation, name)
SELECT e - length - 50000, e - length, 7, 2 * k + 1, 'sm90_xmma_gemm' FROM c
UNION ALL SELECT e - length, e + iif(k = 13, 2000000, 0), 20, 2 * k + 2, 'ncclDevKernel_AllReduce' FROM c;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 23),
     c (k, e, length) AS (SELECT k, 10000400 * k + 3400016, iif(k % 2, 100000, 250000) FROM k)
INSERT INTO range (start, end, name) SELECT e - length - 50000, e + 3000000, 'step' FROM c;
