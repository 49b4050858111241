-- [own schema] From 1000, when the first process began, to 10000, when the last one ended.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 50);
INSERT INTO SWINSCOPE_PROCESS (globalPid, start, end, parentGlobalPid, rank, name, command, cpuNs, unseenCpuNs, maxRssBytes) VALUES
    (1677721600, 1000, 10000, NULL, 0, 'app', 'app', 0, 0, 0);
