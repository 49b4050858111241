-- [own schema] Bound by compute in its steps, though the device idles before them, and after them, for longer than they take.
--
-- Steps 10000 .. 11000 and 11000 .. 12000, which are the device's window, too. Idle 10000 .. 10100 (launched 10010: host), gemm
-- 10100 .. 10700, idle 10700 .. 11100 (launched 11010: host), gemm 11100 .. 11700, idle up to the end of the step (nothing was launched:
-- host). Of 2000: compute 1200 = 60 %, host 100 + 400 + 300 = 800 = 40 %. Per step: 600 and 400 of 1000. The longer products before and
-- after the steps are not named as the largest.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (10000, 11000, 'swinscope', 'step'), (11000, 12000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES
    (20, 1220, 1, 'sm90_init_gemm'), (10100, 10700, 2, 'sm90_xmma_gemm'), (11100, 11700, 3, 'sm90_xmma_gemm'), (20000, 21500, 4, 'sm90_save_gemm');
INSERT INTO call (start, end, correlation) VALUES (0, 5, 1), (10010, 10020, 2), (11010, 11020, 3), (19990, 19995, 4);
