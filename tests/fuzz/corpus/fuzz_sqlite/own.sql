CREATE TABLE SWINSCOPE_RUN(schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete);
INSERT INTO SWINSCOPE_RUN VALUES(1, 'swinscope', '', 0, 1, 281476654432256, 'h', 'c', 1);
CREATE TABLE SWINSCOPE_DROPS(what, count, reason);
INSERT INTO SWINSCOPE_DROPS VALUES('kernel', 3, 'full');
CREATE TABLE SWINSCOPE_COLLECTIVE(globalPid, correlationId, graphNodeId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq);
INSERT INTO SWINSCOPE_COLLECTIVE VALUES(281476654432256, 1, NULL, 'allreduce', 5, 5, 'Half', 2, 'pg', '[0, 1]', 3);
CREATE TABLE SWINSCOPE_THREAD_CPU(timestamp, globalTid, cpuNs);
INSERT INTO SWINSCOPE_THREAD_CPU VALUES(5, 281476654432257, 6);
