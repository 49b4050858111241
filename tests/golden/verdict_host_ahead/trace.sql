-- [own schema] A host that runs ahead: its steps of 100 end long before what they launch, as those of a CUDA graph do. What a step takes
-- is then the device's to say: 0 .. 2050 for two of them, 1025 each.
--
-- Idle 0 .. 50 (launched 10: host), gemm 50 .. 1050, idle 1050 .. 1060 (launched 110, before the gap: dependency, which counts as other), gemm 1060 .. 2050.
-- Of 2050: compute 1990 = 97.07 %, host 50, other 10; per step 995, 25 and 5.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 100, 'swinscope', 'step'), (100, 200, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, name) VALUES (50, 1050, 1, 'sm90_xmma_gemm'), (1060, 2050, 2, 'sm90_xmma_gemm');
INSERT INTO call (start, end, correlation) VALUES (10, 20, 1), (110, 120, 2);
