-- [own schema] Launches without kernels: what was not recorded is no idle host.
--
-- Two steps of 1000, a launch in each and one more, none of the kernels recorded. A driver call within the first runtime call has the same id
-- and is no launch of its own: three launches. The loader's wait is recorded, and is no verdict either.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step'), (1000, 2000, 'swinscope', 'step'), (0, 800, 'swinscope', 'data');
INSERT INTO call (start, end, correlation) VALUES (900, 910, 1), (1100, 1110, 2), (1200, 1210, 3);
INSERT INTO call (start, end, correlation, name, driver) VALUES (902, 908, 1, 'cuLaunchKernel', 1);
