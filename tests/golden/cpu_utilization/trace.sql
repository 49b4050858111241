-- [own schema] CPU time of a recorded process, over the samples' whole time: 1000 .. 5000.
--
-- The process used 7000 - 1000 = 6000 ns in 4000 ns, on 3 cores allowed: 6000 / 12000 = 50 %. Rows of single threads do not count.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, name) VALUES (0, 5000, 'work');
INSERT INTO cpu (at, ns) VALUES (1000, 1000), (3000, 2500), (5000, 7000);
INSERT INTO cpu (at, thread, ns) VALUES (1000, 1, 900), (5000, 1, 5900);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '3');
