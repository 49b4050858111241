-- [own schema] Steps by the names that frameworks give them, before any period of the kernels, which here is a layer's.
--
-- Two ranges of vLLM, 0 .. 1000 and 1000 .. 2200, each with a nested "train_step" (not the outermost), and three equal layers of two kernels
-- within each: the period of the sequence would be 2 kernels. Another thread's "iteration 7" overlaps and launches nothing.
-- Step time: 2200 / 2 = 1100; ranges of 1000 and 1200, median 1100, p99 1000 + 0.99 x 200 = 1198.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name, thread) VALUES
    (0, 1000, '', 'execute_context_0(0)_generation_0(16)', 1), (100, 900, '', 'train_step', 1),
    (1000, 2200, '', 'execute_context_0(0)_generation_1(16)', 1), (1100, 2000, '', 'train_step', 1), (500, 1500, '', 'iteration 7', 2);
INSERT INTO kernel (start, end, correlation, name) SELECT 100 + 50 * value, 140 + 50 * value, 1 + value, iif(value % 2, 'layer_norm_kernel', 'sm90_xmma_gemm')
    FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 5) SELECT value FROM n);
INSERT INTO kernel (start, end, correlation, name) SELECT 1200 + 50 * value, 1240 + 50 * value, 11 + value, iif(value % 2, 'layer_norm_kernel', 'sm90_xmma_gemm')
    FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 5) SELECT value FROM n);
INSERT INTO call (start, end, correlation) SELECT start - 20, start - 15, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL;
