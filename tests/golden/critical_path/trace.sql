-- [own schema] The chain that decides a step: four steps of 1,000,000 ns, all alike. Of one that begins at 0:
--   launch of a norm   10,000 ..  15,000   the norm   18,000 .. 118,000: 8,000 after its launch began
--   launch of an add   25,000 ..  30,000   the add   119,000 .. 319,000: 1,000 after the norm
--   launch of a gemm   40,000 ..  45,000   the gemm  320,000 .. 920,000
--   synchronization    50,000 .. 925,000   5,000 after the gemm
-- From the end back: the host after the synchronization, 75,000; 5,000 until it returns; 600,000 compute; 1,000, 200,000
-- and 1,000, 100,000 memory with its delays; 8,000 from launch to norm; the host before that, 10,000, which follows the
-- 75,000 of the step before.
-- compute 600,000, memory 300,000, delays 10,000, calls 5,000, host 85,000: 1,000,000.
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
