CREATE TABLE SWINSCOPE_RUN(schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete);
INSERT INTO SWINSCOPE_RUN VALUES(1, 'swinscope', '', -1, 1, 281476654432256, 'h', 'c', 1);
CREATE TABLE SWINSCOPE_PROCESS(globalPid, start, end, parentGlobalPid, rank, name, command, cpuNs, unseenCpuNs, maxRssBytes);
INSERT INTO SWINSCOPE_PROCESS VALUES(281476654432256, 1, NULL, NULL, 0, 'python', 'python x', 5, 6, 7);
CREATE TABLE SWINSCOPE_PROCESS_CPU(timestamp, globalPid, cpuNs, rssBytes);
INSERT INTO SWINSCOPE_PROCESS_CPU VALUES(5, 281476654432256, 6, 7);
