-- [own schema] Two hosts with 19 collectives in common, fewer than a line of their clocks needs: not aligned, which is said, and a collective
-- waits for what it takes longer than the shortest of its members.
--
-- As clocks_two_hosts, k = 0 .. 18, without its outlier: the all-reduces of rank 0 take 250 us for even k and 100 us for odd k, those of
-- rank 1 150 us and 300 us, each after a gemm of 50 us.
-- Even k (10): 150 us are transfer, rank 0 waits 100. Odd k (9): 100 us are transfer, rank 1 waits 200.
--   rank 0: wait 10 x 100000 = 1000000, transfer 10 x 150000 + 9 x 100000 = 2400000, together 3400000
--   rank 1: wait 9 x 200000 = 1800000, transfer 2400000, together 4200000
-- Compute 19 x 50000 = 950000 each. Windows: rank 0 from 3100016 to 10000400 x 18 + 6400016 = 186407216: 183307200, idle 178957200; rank 1
-- from 200000 to 183400000: 183200000, idle 178050000.
-- Step: 183307200 / 19 = 9647747; parts of a step, mean of two: (183307200 + 183200000) / 38 = 9644926. Busy: the mean of 4350000 / 183307200
-- = 2.373 % and 5150000 / 183200000 = 2.811 %; exposed: of 3400000 = 1.855 % and 4200000 = 2.293 %. Transfer 4800000 / 38 = 126316.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 100);
UPDATE SWINSCOPE_RUN SET host = 'alpha';
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 18),
     c (k, e, length) AS (SELECT k, 10000400 * k + 3400016, iif(k % 2, 100000, 250000) FROM k)
INSERT INTO kernel (start, end, stream, correlation, name)
SELECT e - length - 50000, e - length, 7, 2 * k + 1, 'sm90_xmma_gemm' FROM c
UNION ALL SELECT e - length, e, 20, 2 * k + 2, 'ncclDevKernel_AllReduce' FROM c;
WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 18),
     c (k, e, length) AS (SELECT k, 10000400 * k + 3400016, iif(k % 2, 100000, 250000) FROM k)
INSERT INTO range (start, end, name) SELECT e - length - 50000, e + 3000000, 'step' FROM c;
