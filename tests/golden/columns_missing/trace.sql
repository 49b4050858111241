-- [no schema] An older minor version (3.1): kernels without green contexts, graph nodes, clusters, mangled names; copies
-- without memory kinds; ranges without domains and JSON; calls without call chains. One table lacks a column that is needed
-- (sets without deviceId): it is left out, and said.
--
-- kernel 1000 .. 1300 (id 1, called 800 .. 900: queue 100, delay 200), copy 1300 .. 1500 of 1000 bytes = 5 GB/s.
-- window 500, all busy. Kernel 60 % of busy, copy 40 %. Two steps of 600 and 400 by ranges, mean 500; both launches (800, 1250)
-- lie in the first, 700 .. 1300. Per step: 300 / 2 = 150 and 200 / 2 = 100. Queue length 1 in 800 .. 1000, over 800 .. 1000.
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.1.7'), ('EXPORT_PRODUCT_VERSION', '2023.2.3.1001');
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'void scale<float>(float*)'), (2, 'scale'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaMemcpyAsync_v3020');

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
    globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,
    gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
    staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (1000, 1300, 0, 1, 7, 1, 100 << 24, 1, 2, 40, 8, 4, 2, 64, 2, 1, 512, 1024);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
    globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1300, 1500, 0, 1, 7, 2, 100 << 24, 1000, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, streamId INTEGER, globalPid INTEGER, bytes INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1500, 1600, 7, 100 << 24, 10), (1600, 1700, 7, 100 << 24, 10);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
    (800, 900, 0, (100 << 24) + 5, 1, 3), (1250, 1280, 0, (100 << 24) + 5, 2, 4);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
INSERT INTO NVTX_EVENTS VALUES
    (700, 1300, 59, 'ProfilerStep#1', (100 << 24) + 5), (1300, 1700, 59, 'ProfilerStep#2', (100 << 24) + 5);
