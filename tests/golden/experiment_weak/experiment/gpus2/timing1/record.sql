-- [own schema] From outside: the worker used 1100 in rank 0's window, so rank 0 used 2200 of 2200 x 4 cores: 25 %.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO process (pid, parent, rank) VALUES (200, NULL, 0), (201, 200, 0), (300, NULL, 1);
INSERT INTO process_cpu (at, pid, ns) VALUES (1000, 201, 0), (3200, 201, 1100);
