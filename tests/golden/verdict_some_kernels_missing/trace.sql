-- [own schema] Some launches have no kernel: the verdict stands, and says so.
--
-- gemm 100 .. 900 (launched 50) of a step 0 .. 1000; launches 2 and 3 of the step have no kernel: 2 of 3. Idle 0 .. 100 and 900 .. 1000: host.
-- compute 800 = 80 %, host 200 = 20 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES (100, 900, 1, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (50, 60, 1), (70, 80, 2), (90, 95, 3);
