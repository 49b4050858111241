-- [own schema] A program of its own, without ranks: what lies in one folder is not one job.
INSERT INTO SWINSCOPE_RUN (schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete)
VALUES (1, 'swinscope', '', 0, 0, 200 << 24, 'node', 'train --level fused', 1);
INSERT INTO range (start, end, name) VALUES (1000, 2000, 'work');
