-- [own schema] What is hidden saves nothing: a norm and an add, which could be fused, run beside a collective for which
-- the step waits. Of a step of 1,000,000 ns that begins at 0:
--   launch of a collective  5,000 ..  8,000   stream 20: 13,000 .. 920,000
--   launch of a norm       10,000 .. 15,000   stream 7:  18,000 .. 118,000
--   launch of an add       25,000 .. 30,000   stream 7: 119,000 .. 319,000
--   synchronization        50,000 .. 925,000
-- With the two fused the synchronization still returns at 925,000.
-- Without three of the four waits the next collective follows by 1,000 instead of 93,000: 3 x 92,000 / 4 = 69,000.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (0, 1000000, 1, 'swinscope', 'step'),
    (1000000, 2000000, 1, 'swinscope', 'step'),
    (2000000, 3000000, 1, 'swinscope', 'step'),
    (3000000, 4000000, 1, 'swinscope', 'step');
INSERT INTO call (start, end, correlation, name) VALUES
    (5000, 8000, 1, 'cudaLaunchKernel'),
    (10000, 15000, 2, 'cudaLaunchKernel'),
    (25000, 30000, 3, 'cudaLaunchKernel'),
    (1005000, 1008000, 11, 'cudaLaunchKernel'),
    (1010000, 1015000, 12, 'cudaLaunchKernel'),
    (1025000, 1030000, 13, 'cudaLaunchKernel'),
    (2005000, 2008000, 21, 'cudaLaunchKernel'),
    (2010000, 2015000, 22, 'cudaLaunchKernel'),
    (2025000, 2030000, 23, 'cudaLaunchKernel'),
    (3005000, 3008000, 31, 'cudaLaunchKernel'),
    (3010000, 3015000, 32, 'cudaLaunchKernel'),
    (3025000, 3030000, 33, 'cudaLaunchKernel');
INSERT INTO call (start, end, name) VALUES
    (50000, 925000, 'cudaDeviceSynchronize'),
    (1050000, 1925000, 'cudaDeviceSynchronize'),
    (2050000, 2925000, 'cudaDeviceSynchronize'),
    (3050000, 3925000, 'cudaDeviceSynchronize');
INSERT INTO kernel (start, end, stream, correlation, name) VALUES
    (13000, 920000, 20, 1, 'ncclDevKernel_AllReduce'), (18000, 118000, 7, 2, 'layer_norm_kernel'), (119000, 319000, 7, 3, 'vectorized_elementwise_kernel'),
    (1013000, 1920000, 20, 11, 'ncclDevKernel_AllReduce'), (1018000, 1118000, 7, 12, 'layer_norm_kernel'), (1119000, 1319000, 7, 13, 'vectorized_elementwise_kernel'),
    (2013000, 2920000, 20, 21, 'ncclDevKernel_AllReduce'), (2018000, 2118000, 7, 22, 'layer_norm_kernel'), (2119000, 2319000, 7, 23, 'vectorized_elementwise_kernel'),
    (3013000, 3920000, 20, 31, 'ncclDevKernel_AllReduce'), (3018000, 3118000, 7, 32, 'layer_norm_kernel'), (3119000, 3319000, 7, 33, 'vectorized_elementwise_kernel');
