-- [own schema] Figures follow the selection that their rows follow: steps (counted from 1), stream, name, the whole trace.
--
-- Steps 0 .. 1000, 1000 .. 2000, 2000 .. 3000; in each a gemm on stream 7 and a copy kernel on stream 8; before them a set-up kernel (launched at
-- -900), within no step. gemm 100, 200, 300; copy 50 each.
--   measured steps: gemm 600 in 3 calls, 200 per step; copy 150, 50 per step; busy 750: 80 % and 20 %.
--   --warmup-steps 1: gemm 500 in 2, 250 per step; busy 600.
--   --steps 2:3 --stream 7: gemm 500 in 2, 250 per step, all of the busy 500.
--   --scope trace: set-up 800, gemm 600, copy 150; busy 1550; nothing per step.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step'), (1000, 2000, 'swinscope', 'step'), (2000, 3000, 'swinscope', 'step');
INSERT INTO kernel (start, end, stream, correlation, name) VALUES (-850, -50, 7, 1, 'set_up_fill_kernel'),
    (100, 200, 7, 2, 'sm90_xmma_gemm'), (300, 350, 8, 3, 'direct_copy_kernel'), (1100, 1300, 7, 4, 'sm90_xmma_gemm'), (1400, 1450, 8, 5, 'direct_copy_kernel'),
    (2100, 2400, 7, 6, 'sm90_xmma_gemm'), (2500, 2550, 8, 7, 'direct_copy_kernel');
INSERT INTO call (start, end, correlation) SELECT start - 50, start - 45, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL;
