-- [own schema] What fusing a norm and an add saves: the steps of critical_path. The add, the longer one, stays.
-- The recorder's cost, 3,600 a launch, is taken away first: 3,500 of the call, which keeps 1,500, and 100 of the 10,000
-- that the host does before the next one. The step stays as it is.
--                                             likely     least     most
--   it takes 200,000 + a share of 100,000    15,000    50,000        0
--   its launch follows the step's begin by   10,000 + a share of the 9,900 between the two launches
--                                               990     4,950        0
--   so it starts at + 8,000                  18,990    22,950   18,000
--   and ends                                233,990   272,950  218,000
--   the gemm 1,000 later ends               834,990   873,950  819,000   instead of 920,000
--   saved                                    85,010    46,050  101,000
-- Three launches are too few for a CUDA graph; the add does not follow a product without a wait of the host between.
-- Without three of the four waits, behind which the host launches, each next step's norm follows the gemm by 1,000
-- instead of 98,000: 3 x 97,000 / 4 = 72,750.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (0, 1000000, 1, 'swinscope', 'step'), (1000000, 2000000, 1, 'swinscope', 'step'), (2000000, 3000000, 1, 'swinscope', 'step'),
    (3000000, 4000000, 1, 'swinscope', 'step');
INSERT INTO call (start, end, correlation, name) VALUES
    (10000, 15000, 1, 'cudaLaunchKernel'), (25000, 30000, 2, 'cudaLaunchKernel'), (40000, 45000, 3, 'cudaLaunchKernel'),
    (1010000, 1015000, 11, 'cudaLaunchKernel'), (1025000, 1030000, 12, 'cudaLaunchKernel'), (1040000, 1045000, 13, 'cudaLaunchKernel'),
    (2010000, 2015000, 21, 'cudaLaunchKernel'), (2025000, 2030000, 22, 'cudaLaunchKernel'), (2040000, 2045000, 23, 'cudaLaunchKernel'),
    (3010000, 3015000, 31, 'cudaLaunchKernel'), (3025000, 3030000, 32, 'cudaLaunchKernel'), (3040000, 3045000, 33, 'cudaLaunchKernel');
INSERT INTO call (start, end, name) VALUES
    (50000, 925000, 'cudaDeviceSynchronize'), (1050000, 1925000, 'cudaDeviceSynchronize'), (2050000, 2925000, 'cudaDeviceSynchronize'),
    (3050000, 3925000, 'cudaDeviceSynchronize');
INSERT INTO kernel (start, end, stream, correlation, name) VALUES
    (18000, 118000, 7, 1, 'layer_norm_kernel'), (119000, 319000, 7, 2, 'vectorized_elementwise_kernel'), (320000, 920000, 7, 3, 'ampere_sgemm_128x64_tn'),
    (1018000, 1118000, 7, 11, 'layer_norm_kernel'), (1119000, 1319000, 7, 12, 'vectorized_elementwise_kernel'), (1320000, 1920000, 7, 13, 'ampere_sgemm_128x64_tn'),
    (2018000, 2118000, 7, 21, 'layer_norm_kernel'), (2119000, 2319000, 7, 22, 'vectorized_elementwise_kernel'), (2320000, 2920000, 7, 23, 'ampere_sgemm_128x64_tn'),
    (3018000, 3118000, 7, 31, 'layer_norm_kernel'), (3119000, 3319000, 7, 32, 'vectorized_elementwise_kernel'), (3320000, 3920000, 7, 33, 'ampere_sgemm_128x64_tn');
