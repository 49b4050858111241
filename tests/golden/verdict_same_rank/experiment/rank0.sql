-- [own schema] Two processes of one rank, of which this one has the steps. What the other one does on its device is not of them, and
-- does not make them longer: the device has 1000 for two steps of 500.
--
-- Idle 0 .. 100 (launched 10: host), gemm 100 .. 500, idle 500 .. 600 (launched 510: host), gemm 600 .. 1000. Of 1000: compute 800 = 80 %,
-- host 200 = 20 %; per step half of it.
INSERT INTO run (rank, pid) VALUES (0, 100);
INSERT INTO range (start, end, domain, name) VALUES (0, 500, 'swinscope', 'step'), (500, 1000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES (100, 500, 1, 'sm90_xmma_gemm'), (600, 1000, 2, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (10, 20, 1), (510, 520, 2);
