-- [own schema] From 1000, when the first process began, to 6000, when the last one ended.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO SWINSCOPE_PROCESS (globalPid, start, end, parentGlobalPid, rank, name, command, cpuNs, unseenCpuNs, maxRssBytes) VALUES
    (1677721600, 2000, 4000, 1509949440, 0, 'app', 'app', 0, 0, 0),
    (1694498816, 2100, 6000, 1509949440, 1, 'app', 'app', 0, 0, 0),
    (1509949440, 1000, 5900, NULL, NULL, 'mpirun', 'mpirun', 0, 0, 0);
