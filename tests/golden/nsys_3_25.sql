-- The tables of an Nsight Systems SQLite export, schema 3.25, as far as swinscope reads them. Constraints are left out, so that
-- cases can hold the rows of a damaged file. Tables without rows are dropped afterwards, as the exporter does not make them.
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER,
    launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
    blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
    localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER,
    graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER,
    clusterZ INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER,
    srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER,
    graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
    start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, contextId INTEGER, greenContextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphExecId INTEGER);

CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,
    returnValue INTEGER, callchainId INTEGER);

CREATE TABLE NVTX_EVENTS (
    start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT,
    globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER,
    doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT,
    binaryData TEXT);

CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT, totalMemory INTEGER, smCount INTEGER,
    computeMajor INTEGER, computeMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);

CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES
    ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_PRODUCT_VERSION', '2026.2.1.210');
