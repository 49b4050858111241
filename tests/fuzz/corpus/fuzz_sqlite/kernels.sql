CREATE TABLE StringIds(id, value);
INSERT INTO StringIds VALUES(1, 'void f<int>(int)'), (2, 'f'), (3, 'cudaLaunchKernel'), (4, '_Z1fi');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
 shortName, mangledName, gridX, gridY, gridZ, blockX, graphNodeId);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 1, 7, 1, 281476654432256, 1, 2, 4, 8, 1, 1, 128, NULL),
 (30, 40, 1, 1, 7, 1, 281478332153856, 1, 2, NULL, 8, 1, 1, 128, 5), (50, 45, 1, 1, 7, 1, 281478332153856, 1, 2, NULL, 1, 1, 1, 1, 5);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 5, 0, 281476654432257, 1, 3, 0), (2, 4, 1, 281476654432257, 1, 3, 0), (6, 7, 0, 281478332153857, 1, 3, 1);
