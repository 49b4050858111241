-- [own schema] record --serial-kernels: kernels that run beside each other otherwise did not, and that is said.
--
-- Two streams, one after the other: 100 and 300, 400 in all; mean 200, median 200, shares 25 and 75 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO SWINSCOPE_COLLECTOR (name, value) VALUES ('cuda.kernels', 'one at a time (--serial-kernels)');
INSERT INTO call (start, end, correlation, name) VALUES (900, 910, 1, 'cudaLaunchKernel'), (920, 930, 2, 'cudaLaunchKernel');
INSERT INTO kernel (start, end, stream, correlation, name) VALUES (1000, 1100, 7, 1, 'first'), (1100, 1400, 13, 2, 'second');
