-- [own schema] The kernel table: percentiles by linear interpolation, shares of busy time, per step, launch configurations.
--
-- One stream, nothing overlaps, busy = 5000. Two steps, 0 .. 4000 and 4000 .. 8000; each record is launched 10 before it runs, so
-- all of them belong to a step: per step = total / 2.
--   gemm        100 200 300 400 1000   total 2000 = 40 %, mean 400, median 300, p95 (at 3.8) 400 + 0.8 x 600 = 880,
--                                      p99 (at 3.96) 400 + 0.96 x 600 = 976; 3 calls with grid 10, 2 with 20 x 2: 2 configurations;
--                                      shared memory 1024 + 2048
--   layer_norm  250 750                total 1000 = 20 %, mean and median 500, p95 250 + 0.95 x 500 = 725, p99 250 + 0.99 x 500 = 745
--   copies      500 500                total 1000 = 20 %, 2000 + 3000 bytes = 5 GB/s
--   set         1000                   20 %, 4096 bytes = 4.096 GB/s
-- Equal totals stand in the order of their full names (ASCII: M before v).
-- Of copies and set by their mean, the set comes first.
-- By class: compute  100 200 250 300 400 750 1000: total 3000 = 60 %, mean 3000 / 7, median 300, p95 (at 5.7) 750 + 0.7 x 250 = 925,
--                                      p99 (at 5.94) 750 + 0.94 x 250 = 985; 3 configurations (layer_norm's too), grid 10 most often
--           memory   500 500 1000: total 2000 = 40 %, mean 2000 / 3, median 500, p95 (at 1.9) 950, p99 (at 1.98) 990,
--                                      9096 bytes / 2000 ns = 4.548 GB/s
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 4000, 'swinscope', 'step'), (4000, 8000, 'swinscope', 'step');
INSERT INTO kernel (start, end, correlation, grid_x, grid_y, registers, static_shared, dynamic_shared, name) VALUES
    (1000, 1100, 1, 10, 1, 96, 1024, 2048, 'void cutlass::gemm<cutlass::half_t, 4>(Params)'),
    (1100, 1300, 2, 10, 1, 96, 1024, 2048, 'void cutlass::gemm<cutlass::half_t, 4>(Params)'),
    (1300, 1600, 3, 10, 1, 96, 1024, 2048, 'void cutlass::gemm<cutlass::half_t, 4>(Params)'),
    (1600, 2000, 4, 20, 2, 96, 1024, 2048, 'void cutlass::gemm<cutlass::half_t, 4>(Params)'),
    (2000, 3000, 5, 20, 2, 96, 1024, 2048, 'void cutlass::gemm<cutlass::half_t, 4>(Params)'),
    (3000, 3250, 6, 5, 1, 24, 0, 0, 'void layer_norm(float const*)'),
    (3250, 4000, 7, 5, 1, 24, 0, 0, 'void layer_norm(float const*)');
INSERT INTO copy (start, end, correlation, bytes) VALUES (4000, 4500, 8, 2000), (4500, 5000, 9, 3000);
INSERT INTO fill (start, end, correlation, bytes) VALUES (5000, 6000, 10, 4096);
INSERT INTO call (start, end, correlation)
SELECT start - 10, start - 5, correlationId FROM (
    SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL
    UNION ALL SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY
    UNION ALL SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET);
