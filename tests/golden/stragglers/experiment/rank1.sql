-- [own schema] The rank that rank 0 waits for in step 2; in step 1 it waits for rank 0, from 505 to 705 us. rank0.sql says what follows.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 200);
INSERT INTO range (start, end, pid, name) VALUES (0, 860000, 200, 'step 1'), (860000, 1860000, 200, 'step 2');
INSERT INTO call (start, end, pid, correlation) VALUES
    (0, 1000, 200, 1), (1000, 2000, 200, 2), (2000, 3000, 200, 3), (860000, 861000, 200, 4), (861000, 862000, 200, 5), (862000, 863000, 200, 6);
INSERT INTO kernel (start, end, pid, correlation, name) VALUES
    (5000, 505000, 200, 1, 'ampere_sgemm_128x64_tn'), (505000, 805000, 200, 2, 'ncclDevKernel_AllReduce'), (805000, 855000, 200, 3, 'multi_tensor_apply_kernel'),
    (865000, 1665000, 200, 4, 'ampere_sgemm_128x64_tn'), (1665000, 1805000, 200, 5, 'ncclDevKernel_AllReduce'), (1805000, 1855000, 200, 6, 'multi_tensor_apply_kernel');
