-- The swinscope trace file. One file per process; all times are int64 nanoseconds since the session start.
--
-- The first group of tables has the names, columns and meanings of Nsight Systems' SQLite export (schema 3.x), so that
-- scripts written for one read the other. What Nsight Systems has no table for lives in SWINSCOPE_* tables.
-- The lines above each CREATE TABLE and the comment behind each column are the schema documentation (docs/schema.md).

-- Strings that many rows share; rows refer to them by id. Id 0 is the empty string.
CREATE TABLE IF NOT EXISTS StringIds (
    id INTEGER NOT NULL PRIMARY KEY, -- Identifier used by the other tables.
    value TEXT NOT NULL -- The string, valid UTF-8.
);

-- Kernel executions on a GPU (node level inside CUDA graphs).
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL, -- Start of the execution (ns).
    end INTEGER NOT NULL, -- End of the execution (ns).
    deviceId INTEGER NOT NULL, -- CUDA device ordinal in the process.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- CUDA stream.
    correlationId INTEGER, -- Joins the launching call: CUPTI_ACTIVITY_KIND_RUNTIME.correlationId of the same process.
    globalPid INTEGER, -- Serialized process id: pid = (globalPid >> 24) & 0xFFFFFF.
    demangledName INTEGER NOT NULL, -- Full name with template arguments (StringIds.id).
    shortName INTEGER NOT NULL, -- Base name without template arguments and parameters (StringIds.id).
    mangledName INTEGER, -- Linker symbol (StringIds.id), NULL when not recorded.
    launchType INTEGER, -- 1 regular, 2 cooperative, 3 cooperative multi-device; NULL unknown.
    cacheConfig INTEGER, -- Cache configuration requested.
    registersPerThread INTEGER NOT NULL, -- Registers per thread.
    gridX INTEGER NOT NULL, -- Grid size, x (blocks).
    gridY INTEGER NOT NULL, -- Grid size, y (blocks).
    gridZ INTEGER NOT NULL, -- Grid size, z (blocks).
    blockX INTEGER NOT NULL, -- Block size, x (threads).
    blockY INTEGER NOT NULL, -- Block size, y (threads).
    blockZ INTEGER NOT NULL, -- Block size, z (threads).
    staticSharedMemory INTEGER NOT NULL, -- Static shared memory per block (bytes).
    dynamicSharedMemory INTEGER NOT NULL, -- Dynamic shared memory per block (bytes).
    localMemoryPerThread INTEGER NOT NULL, -- Local memory per thread (bytes).
    localMemoryTotal INTEGER NOT NULL, -- Local memory of the whole launch (bytes).
    gridId INTEGER NOT NULL, -- Identifier of the grid assigned by the driver.
    sharedMemoryExecuted INTEGER, -- Shared memory carve-out set by the driver (bytes).
    graphNodeId INTEGER, -- CUDA graph node that ran, NULL outside graphs.
    sharedMemoryLimitConfig INTEGER, -- Shared memory limit configuration.
    graphId INTEGER, -- CUDA graph, NULL outside graphs.
    clusterX INTEGER, -- Thread block cluster size, x (blocks).
    clusterY INTEGER, -- Thread block cluster size, y (blocks).
    clusterZ INTEGER -- Thread block cluster size, z (blocks).
);

-- Memory copies executed on or by a GPU.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER NOT NULL, -- Start of the copy (ns).
    end INTEGER NOT NULL, -- End of the copy (ns).
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- CUDA stream.
    correlationId INTEGER, -- Joins the launching call.
    globalPid INTEGER, -- Serialized process id.
    bytes INTEGER NOT NULL, -- Bytes copied.
    copyKind INTEGER NOT NULL, -- 1 host to device, 2 device to host, 8 device to device, 10 peer to peer (CUPTI numbering).
    srcKind INTEGER, -- Source memory: 0 pageable, 1 pinned, 2 device, 3 array, 4 managed, 5 device static, 6 managed static, 7 unknown.
    dstKind INTEGER, -- Destination memory, same numbering.
    srcDeviceId INTEGER, -- Source device of a peer copy.
    dstDeviceId INTEGER, -- Destination device of a peer copy.
    graphNodeId INTEGER -- CUDA graph node that ran, NULL outside graphs.
);

-- Memory sets executed on a GPU.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_MEMSET (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER NOT NULL, -- End (ns).
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- CUDA stream.
    correlationId INTEGER, -- Joins the launching call.
    globalPid INTEGER, -- Serialized process id.
    value INTEGER NOT NULL, -- Value written.
    bytes INTEGER NOT NULL, -- Bytes written.
    graphNodeId INTEGER, -- CUDA graph node that ran, NULL outside graphs.
    memKind INTEGER -- Kind of the memory written, numbering as in srcKind.
);

-- CUDA runtime and driver calls of the host.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER NOT NULL, -- Start of the call (ns).
    end INTEGER NOT NULL, -- End of the call (ns).
    eventClass INTEGER NOT NULL, -- 0 runtime API, 1 driver API.
    globalTid INTEGER, -- Serialized thread id: pid as in globalPid, tid = globalTid & 0xFFFFFF.
    correlationId INTEGER, -- Joins the GPU work that the call caused.
    nameId INTEGER NOT NULL, -- Function name (StringIds.id).
    returnValue INTEGER NOT NULL, -- Value returned, 0 is success.
    callchainId INTEGER -- Call stack, NULL when not recorded.
);

-- Synchronization of the host or of a stream.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER NOT NULL, -- End (ns).
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- Stream concerned, 0 when none in particular.
    correlationId INTEGER, -- Joins the synchronizing call.
    globalPid INTEGER, -- Serialized process id.
    syncType INTEGER NOT NULL, -- 1 event, 2 stream waits for event, 3 stream, 4 context.
    eventId INTEGER NOT NULL, -- Event concerned, 0 when none.
    eventSyncId INTEGER -- Joins the record call of the event, NULL when not recorded.
);

-- CUDA events as they were recorded on a stream (with --trace sync). A synchronization with the same eventSyncId waited for
-- this one: with syncType 2, that of a stream on the other.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_CUDA_EVENT (
    timestamp INTEGER, -- When the GPU reached it, NULL when not collected.
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- Stream on which it was recorded.
    correlationId INTEGER, -- Joins the call that recorded it.
    globalPid INTEGER, -- Serialized process id.
    eventId INTEGER NOT NULL, -- The event, which may be recorded many times.
    eventSyncId INTEGER -- This recording of it, NULL when CUPTI does not tell (before CUDA 12.8).
);

-- Allocations and releases of memory (with --trace memory).
CREATE TABLE IF NOT EXISTS CUDA_GPU_MEMORY_USAGE_EVENTS (
    start INTEGER NOT NULL, -- Time of the call (ns).
    globalPid INTEGER NOT NULL, -- Serialized process id.
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- CUDA context, 0 when none.
    address INTEGER NOT NULL, -- Virtual address.
    pc INTEGER NOT NULL, -- Program counter of the call.
    bytes INTEGER NOT NULL, -- Bytes allocated or released.
    memKind INTEGER NOT NULL, -- Kind of memory, numbering as in CUPTI_ACTIVITY_KIND_MEMCPY.srcKind.
    memoryOperationType INTEGER NOT NULL, -- 0 allocation, 1 release.
    name TEXT, -- Name of a variable, NULL for memory without.
    correlationId INTEGER, -- Joins the call.
    streamId INTEGER, -- Stream of an asynchronous operation, else NULL.
    localMemoryPoolAddress INTEGER, -- Base address of the memory pool, NULL when none of this process was used.
    localMemoryPoolReleaseThreshold INTEGER, -- Its release threshold (bytes).
    localMemoryPoolSize INTEGER, -- Its size (bytes).
    localMemoryPoolUtilizedSize INTEGER, -- Bytes of it in use.
    importedMemoryPoolAddress INTEGER, -- Base address of the memory pool, NULL when none of another process was used.
    importedMemoryPoolProcessId INTEGER -- The process whose pool it is.
);

-- Memory pools: created, trimmed, destroyed (with --trace memory).
CREATE TABLE IF NOT EXISTS CUDA_GPU_MEMORY_POOL_EVENTS (
    start INTEGER NOT NULL, -- Time of the call (ns).
    globalPid INTEGER NOT NULL, -- Serialized process id.
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    address INTEGER NOT NULL, -- Base address of the pool.
    operationType INTEGER NOT NULL, -- 0 created, 1 destroyed, 2 trimmed.
    poolType INTEGER NOT NULL, -- 0 of this process, 1 imported from another one.
    correlationId INTEGER, -- Joins the call.
    minBytesToKeep INTEGER, -- Bytes that trimming was to leave, NULL when not trimmed.
    localMemoryPoolReleaseThreshold INTEGER, -- Release threshold (bytes), NULL when imported.
    localMemoryPoolSize INTEGER, -- Size (bytes), NULL when imported.
    localMemoryPoolUtilizedSize INTEGER -- Bytes in use, NULL when imported.
);

-- Executions of whole CUDA graphs (graph-level tracing: the kernels inside are then not recorded).
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER NOT NULL, -- End (ns).
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    graphId INTEGER NOT NULL, -- CUDA graph.
    contextId INTEGER NOT NULL, -- CUDA context.
    greenContextId INTEGER, -- Green context, NULL when none.
    streamId INTEGER NOT NULL, -- CUDA stream.
    correlationId INTEGER, -- Joins the launching call.
    globalPid INTEGER, -- Serialized process id.
    graphExecId INTEGER -- Executable graph, NULL when not recorded.
);

-- Nodes of CUDA graphs as they came into being. A node that runs was captured by the thread, at the time and so within the
-- NVTX ranges of its row, or of the row of the node that it is a copy of.
CREATE TABLE IF NOT EXISTS CUDA_GRAPH_NODE_EVENTS (
    start INTEGER NOT NULL, -- When the node was created or copied (ns).
    end INTEGER NOT NULL, -- The same.
    eventClass INTEGER, -- NULL here.
    globalTid INTEGER, -- Serialized thread id of the creating thread.
    nameId INTEGER, -- NULL here.
    graphNodeId INTEGER NOT NULL, -- The node: graphNodeId of kernels, copies and sets.
    originalGraphNodeId INTEGER -- The node that it was copied from when its graph was instantiated, NULL when created.
);

-- Time that the tracing itself or the driver took.
CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_OVERHEAD (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER NOT NULL, -- End (ns).
    eventClass INTEGER NOT NULL, -- 103: GPU profiler overhead.
    globalTid INTEGER, -- Serialized thread id.
    correlationId INTEGER, -- Joins the call that was delayed.
    nameId INTEGER, -- What it was (StringIds.id).
    overheadType INTEGER NOT NULL -- 2 JIT compiler, 3 buffer flush, 4 instrumentation, 5 resource, 6 and 7 module loading, 8 command buffer full.
);

-- Time that the profiler itself took: the rows of CUPTI_ACTIVITY_KIND_OVERHEAD with overheadType 3 to 5.
CREATE TABLE IF NOT EXISTS PROFILER_OVERHEAD (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER NOT NULL, -- End (ns).
    globalTid INTEGER, -- Serialized thread id.
    nameId INTEGER NOT NULL, -- What it was (StringIds.id).
    overheadType INTEGER NOT NULL -- ENUM_CUPTI_OVERHEAD_TYPE.id.
);

-- NVTX ranges, marks and domains; also the operator and user ranges of imported PyTorch traces, in domains named torch.*.
CREATE TABLE IF NOT EXISTS NVTX_EVENTS (
    start INTEGER NOT NULL, -- Start (ns).
    end INTEGER, -- End (ns), NULL for marks and for ranges still open when recording ended.
    eventType INTEGER NOT NULL, -- 59 push/pop range, 60 start/end range, 34 mark, 33 category name, 75 domain.
    rangeId INTEGER, -- Id returned by nvtxRangeStart; the External id of imported PyTorch operators.
    category INTEGER, -- Category given by the program.
    color INTEGER, -- ARGB colour given by the program.
    text TEXT, -- Name, when the program gave it as a plain string; else NULL.
    globalTid INTEGER, -- Serialized thread id.
    endGlobalTid INTEGER, -- Thread that ended the range, NULL when the same.
    textId INTEGER, -- Name (StringIds.id), when the program had registered it, and of imported PyTorch traces; else NULL.
    domainId INTEGER, -- Domain; the row with eventType 75 and this domainId names it. 0 is the default domain.
    uint64Value INTEGER, -- Payload given as an unsigned 64-bit integer.
    int64Value INTEGER, -- Payload given as a 64-bit integer; the Sequence number of imported PyTorch operators.
    doubleValue REAL, -- Payload given as a double.
    uint32Value INTEGER, -- Payload given as an unsigned 32-bit integer.
    int32Value INTEGER, -- Payload given as a 32-bit integer.
    floatValue REAL, -- Payload given as a float.
    jsonTextId INTEGER, -- Extended payload as JSON (StringIds.id).
    jsonText TEXT, -- Extended payload as JSON.
    binaryData BLOB -- Extended payloads as the program gave them: for each four 64-bit numbers (domain, NVTX_PAYLOAD_SCHEMAS.schemaId, bytes, where they begin in this value), then the bytes of all.
);

-- Structs that programs registered for extended payloads of NVTX.
CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_SCHEMAS (
    domainId INTEGER, -- Domain: NVTX_EVENTS.domainId.
    schemaId INTEGER, -- Number of the schema within the domain.
    name TEXT, -- Name given by the program.
    type INTEGER, -- Kind of schema: 1 static, 2 dynamic, 3 union, 4 union with its selector inside.
    flags INTEGER, -- NVTX_PAYLOAD_SCHEMA_FLAG_*, NULL when there are none.
    numEntries INTEGER, -- Entries: rows of NVTX_PAYLOAD_SCHEMA_ENTRIES.
    payloadSize INTEGER, -- Size of a payload (bytes), NULL when payloads differ.
    alignTo INTEGER -- Alignment of the entries (bytes).
);

-- The entries of those structs.
CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_SCHEMA_ENTRIES (
    domainId INTEGER NOT NULL, -- Domain: NVTX_EVENTS.domainId.
    schemaId INTEGER NOT NULL, -- Schema: NVTX_PAYLOAD_SCHEMAS.schemaId.
    idx INTEGER NOT NULL, -- Index of the entry, from 0.
    flags INTEGER, -- NVTX_PAYLOAD_ENTRY_FLAG_*, NULL when there are none.
    type INTEGER, -- Type: NVTX_PAYLOAD_ENTRY_TYPE_*, or the number of another schema.
    name TEXT, -- Name given by the program.
    description TEXT, -- Not recorded.
    arrayOrUnionDetail INTEGER, -- Length of an array, or the entry that has it, or the selector of a union.
    offset INTEGER -- Offset in the payload (bytes).
);

-- Sampled GPU metrics.
CREATE TABLE IF NOT EXISTS GPU_METRICS (
    timestamp INTEGER NOT NULL, -- Time of the sample (ns).
    typeId INTEGER NOT NULL, -- Source; the GPU is typeId & 0xFF.
    metricId INTEGER NOT NULL, -- Metric: TARGET_INFO_GPU_METRICS.metricId.
    value INTEGER NOT NULL -- Value in the metric's unit.
);

-- Names of the sampled GPU metrics.
CREATE TABLE IF NOT EXISTS TARGET_INFO_GPU_METRICS (
    typeId INTEGER NOT NULL, -- Source, as in GPU_METRICS.
    sourceId INTEGER NOT NULL, -- Sampler: 1 NVML, 2 CUPTI PM sampling, 3 NVML GPM, 4 the program's memory allocator.
    typeName TEXT NOT NULL, -- Name of the source.
    metricId INTEGER NOT NULL, -- Metric.
    metricName TEXT NOT NULL -- Name of the metric with its unit in brackets.
);

-- GPUs of the machine.
CREATE TABLE IF NOT EXISTS TARGET_INFO_GPU (
    vmId INTEGER NOT NULL, -- Virtual machine id, 0.
    id INTEGER NOT NULL, -- GPU id.
    name TEXT, -- Product name.
    busLocation TEXT, -- PCI bus location (domain:bus:device.function), NULL when not recorded.
    isDiscrete INTEGER, -- 1 for a discrete GPU.
    l2CacheSize INTEGER, -- L2 cache (bytes), NULL when not recorded.
    totalMemory INTEGER, -- Device memory (bytes).
    memoryBandwidth INTEGER, -- Peak memory bandwidth (bytes/s), NULL when not recorded.
    clockRate INTEGER, -- Peak SM clock (Hz), NULL when not recorded.
    smCount INTEGER, -- Streaming multiprocessors.
    pwGpuId INTEGER, -- Unused here.
    uuid TEXT, -- UUID of the GPU.
    maxRegistersPerSm INTEGER, -- Registers per multiprocessor.
    threadsPerWarp INTEGER, -- Warp size.
    computeMajor INTEGER, -- Compute capability, major.
    computeMinor INTEGER, -- Compute capability, minor.
    maxShmemPerSm INTEGER, -- Shared memory per multiprocessor (bytes).
    chipName TEXT, -- Chip, e.g. GH100; NULL when the compute capability alone does not say which.
    cuDevice INTEGER -- CUDA device ordinal in the process.
);

-- CUDA device ordinals of a process.
CREATE TABLE IF NOT EXISTS TARGET_INFO_CUDA_DEVICE (
    gpuId INTEGER NOT NULL, -- TARGET_INFO_GPU.id.
    cudaId INTEGER NOT NULL, -- CUDA device ordinal (deviceId elsewhere).
    pid INTEGER NOT NULL, -- Process id.
    uuid TEXT NOT NULL, -- UUID of the GPU.
    numMultiprocessors INTEGER -- Streaming multiprocessors.
);

-- CUDA contexts of the process.
CREATE TABLE IF NOT EXISTS TARGET_INFO_CUDA_CONTEXT_INFO (
    nullStreamId INTEGER NOT NULL, -- The default stream: streamId of what runs there.
    hwId INTEGER NOT NULL, -- 0 here.
    vmId INTEGER NOT NULL, -- 0 here.
    processId INTEGER NOT NULL, -- Process id.
    deviceId INTEGER NOT NULL, -- CUDA device ordinal.
    contextId INTEGER NOT NULL, -- contextId elsewhere.
    parentContextId INTEGER, -- NULL here.
    isGreenContext INTEGER -- NULL here.
);

-- CUDA streams that were created while CUDA was recorded.
CREATE TABLE IF NOT EXISTS TARGET_INFO_CUDA_STREAM (
    streamId INTEGER NOT NULL, -- streamId elsewhere.
    hwId INTEGER NOT NULL, -- 0 here.
    vmId INTEGER NOT NULL, -- 0 here.
    processId INTEGER NOT NULL, -- Process id.
    contextId INTEGER NOT NULL, -- CUDA context.
    priority INTEGER NOT NULL, -- Priority; a smaller number goes first.
    flag INTEGER NOT NULL -- 1 waits for the default stream, 2 does not, 3 is the default stream, 0 unknown.
);

-- When the recording began: absolute time = utcEpochNs + start.
CREATE TABLE IF NOT EXISTS TARGET_INFO_SESSION_START_TIME (
    utcEpochNs INTEGER, -- Start of the session, ns since 1970-01-01 UTC.
    utcTime TEXT, -- The same as text.
    localTime TEXT -- The same in local time.
);

-- The machine and software, as in the export of Nsight Systems.
CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (
    globalVid INTEGER, -- Serialized id of the virtual machine.
    devStateName TEXT NOT NULL, -- Group of the property.
    name TEXT NOT NULL, -- Property: CpuCores, CpuDescription, OsDescription, KernelVersion, NvDriverVersion, Hostname.
    nameEnum INTEGER NOT NULL, -- Its number in the export of Nsight Systems.
    value TEXT NOT NULL -- Value.
);

-- The span of the recording.
CREATE TABLE IF NOT EXISTS ANALYSIS_DETAILS (
    globalVid INTEGER NOT NULL, -- Virtual machine, 0 here.
    duration INTEGER NOT NULL, -- Length of the recording (ns).
    startTime INTEGER NOT NULL, -- First instant (ns).
    stopTime INTEGER NOT NULL -- Last instant (ns).
);

-- Names of the processes.
CREATE TABLE IF NOT EXISTS PROCESSES (
    globalPid INTEGER, -- Serialized process id.
    pid INTEGER, -- Process id.
    name TEXT -- Name.
);

-- Names of the threads.
CREATE TABLE IF NOT EXISTS ThreadNames (
    nameId INTEGER NOT NULL, -- Name (StringIds.id).
    priority INTEGER, -- Scheduling priority, NULL when not recorded.
    globalTid INTEGER -- Serialized thread id.
);

-- What the recording has to say about itself: what was lost or could not be recorded.
CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT (
    timestamp INTEGER NOT NULL, -- Time (ns); 0 for what is known at the end only.
    timestampType INTEGER NOT NULL, -- ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE.id.
    source INTEGER NOT NULL, -- ENUM_DIAGNOSTIC_SOURCE_TYPE.id.
    severity INTEGER NOT NULL, -- ENUM_DIAGNOSTIC_SEVERITY_LEVEL.id.
    text TEXT NOT NULL, -- The message.
    globalPid INTEGER -- Serialized process id.
);

-- Facts about how the file was made: product, schema version, options.
CREATE TABLE IF NOT EXISTS META_DATA_EXPORT (
    name TEXT NOT NULL, -- Key. EXPORT_SCHEMA_VERSION is the version of the nsys-compatible part.
    value TEXT -- Value.
);

-- Facts about what was recorded.
CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (
    name TEXT NOT NULL, -- Key. CUDA_GRAPH_TRACE_OPTIONS:MODE is Node or Graph; PROCESS_0:COMMAND and :ARGUMENT_0 and on are the command line.
    value TEXT -- Value.
);

-- What the numbers in CUPTI_ACTIVITY_KIND_KERNEL.launchType mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_KERNEL_LAUNCH_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_KERNEL_LAUNCH_TYPE VALUES
    (0, 'CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN', 'Unknown'),
    (1, 'CUDA_KERNEL_LAUNCH_TYPE_REGULAR', 'Regular'),
    (2, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE', 'Coop Single Device'),
    (3, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE', 'Coop Multi Device');

-- What the numbers in CUPTI_ACTIVITY_KIND_KERNEL.cacheConfig mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_FUNC_CACHE_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_FUNC_CACHE_CONFIG VALUES
    (0, 'CU_FUNC_CACHE_PREFER_NONE', 'None'),
    (1, 'CU_FUNC_CACHE_PREFER_SHARED', 'Shared'),
    (2, 'CU_FUNC_CACHE_PREFER_L1', 'L1'),
    (3, 'CU_FUNC_CACHE_PREFER_EQUAL', 'Equal');

-- What the numbers in CUPTI_ACTIVITY_KIND_KERNEL.sharedMemoryLimitConfig mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG VALUES
    (0, 'CUDA_SHARED_MEM_LIMIT_DEFAULT', 'Default'),
    (1, 'CUDA_SHARED_MEM_LIMIT_OPTIN', 'Opt in');

-- What the numbers in CUPTI_ACTIVITY_KIND_MEMCPY.copyKind mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_MEMCPY_OPER (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_MEMCPY_OPER VALUES
    (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
    (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
    (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
    (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
    (4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'),
    (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
    (6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'),
    (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
    (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
    (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
    (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'),
    (11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device'),
    (12, 'CUDA_MEMCPY_KIND_UVM_DTOH', 'Unified Device-to-Host'),
    (13, 'CUDA_MEMCPY_KIND_UVM_DTOD', 'Unified Device-to-Device');

-- What the numbers in CUPTI_ACTIVITY_KIND_MEMCPY.srcKind and .dstKind, CUPTI_ACTIVITY_KIND_MEMSET.memKind, CUDA_GPU_MEMORY_USAGE_EVENTS.memKind mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_MEM_KIND (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_MEM_KIND VALUES
    (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
    (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
    (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
    (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
    (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
    (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
    (6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'),
    (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');

-- What the numbers in CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType mean.
CREATE TABLE IF NOT EXISTS ENUM_CUDA_DEV_MEM_EVENT_OPER (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES
    (0, 'CUDA_DEV_MEM_EVENT_OPR_ALLOCATION', 'Allocation'),
    (1, 'CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION', 'Deallocation');

-- What the numbers in CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.syncType mean.
CREATE TABLE IF NOT EXISTS ENUM_CUPTI_SYNC_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUPTI_SYNC_TYPE VALUES
    (0, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN', 'Unknown'),
    (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', 'Event sync'),
    (2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', 'Stream wait sync'),
    (3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', 'Stream sync'),
    (4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', 'Context sync');

-- What the numbers in CUPTI_ACTIVITY_KIND_OVERHEAD.overheadType and PROFILER_OVERHEAD.overheadType mean.
CREATE TABLE IF NOT EXISTS ENUM_CUPTI_OVERHEAD_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES
    (0, 'OVERHEAD_UNDEFINED', 'Undefined'),
    (1, 'OVERHEAD_UNKNOWN', 'Unknown'),
    (2, 'OVERHEAD_DRIVER_COMPILER', 'Driver JIT compiler (CUDA)'),
    (3, 'OVERHEAD_CUPTI_BUFFER_FLUSH', 'Buffer flush (Profiler)'),
    (4, 'OVERHEAD_CUPTI_INSTRUMENTATION', 'Instrumentation (Profiler)'),
    (5, 'OVERHEAD_CUPTI_RESOURCE', 'Resource creation/destruction (Profiler)'),
    (6, 'OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING', 'Runtime module loading (CUDA)'),
    (7, 'OVERHEAD_LAZY_FUNCTION_LOADING', 'Lazy function loading (CUDA)'),
    (8, 'OVERHEAD_COMMAND_BUFFER_FULL', 'Command buffer full (CUDA)');

-- What the numbers in TARGET_INFO_CUDA_STREAM.flag mean.
CREATE TABLE IF NOT EXISTS ENUM_CUPTI_STREAM_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_CUPTI_STREAM_TYPE VALUES
    (0, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN', 'Unknown stream type'),
    (1, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT', 'Default stream'),
    (2, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING', 'Non-blocking stream'),
    (3, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL', 'Null stream');

-- What the numbers in CUPTI_ACTIVITY_KIND_RUNTIME.eventClass and CUPTI_ACTIVITY_KIND_OVERHEAD.eventClass (those that occur) mean.
CREATE TABLE IF NOT EXISTS ENUM_NSYS_EVENT_CLASS (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_NSYS_EVENT_CLASS VALUES
    (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
    (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver'),
    (77, 'TRACE_PROCESS_EVENT_CUDA_GRAPH_NODE_CREATION', 'CUDA graph node creation'),
    (103, 'TRACE_PROCESS_EVENT_CUDA_OVERHEAD', 'CUDA overhead');

-- What the numbers in NVTX_EVENTS.eventType (those that occur) mean.
CREATE TABLE IF NOT EXISTS ENUM_NSYS_EVENT_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_NSYS_EVENT_TYPE VALUES
    (33, 'NvtxCategory', 'NvtxCategory'),
    (34, 'NvtxMark', 'NvtxMark'),
    (59, 'NvtxPushPopRange', 'NvtxPushPopRange'),
    (60, 'NvtxStartEndRange', 'NvtxStartEndRange'),
    (75, 'NvtxDomainCreate', 'NvtxDomainCreate');

-- What the numbers in DIAGNOSTIC_EVENT.severity mean.
CREATE TABLE IF NOT EXISTS ENUM_DIAGNOSTIC_SEVERITY_LEVEL (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES
    (0, 'UnknownLevel', 'Unknown'),
    (1, 'Info', 'Info'),
    (2, 'Warning', 'Warning'),
    (3, 'Error', 'Error'),
    (4, 'Verbose', 'Verbose');

-- What the numbers in DIAGNOSTIC_EVENT.source mean.
CREATE TABLE IF NOT EXISTS ENUM_DIAGNOSTIC_SOURCE_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_DIAGNOSTIC_SOURCE_TYPE VALUES
    (0, 'UnknownSource', 'Unknown source'),
    (1, 'Injection', 'Injection'),
    (2, 'Daemon', 'Daemon'),
    (3, 'Analysis', 'Analysis');

-- What the numbers in DIAGNOSTIC_EVENT.timestampType mean.
CREATE TABLE IF NOT EXISTS ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE (
    id INTEGER NOT NULL PRIMARY KEY, -- The number.
    name TEXT, -- Its name in the programming interface.
    label TEXT -- Its name for people.
);
INSERT OR IGNORE INTO ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE VALUES
    (0, 'UnknownTimestamp', 'Unknown timestamp'),
    (1, 'TargetTimestamp', 'Target timestamp'),
    (2, 'HostTimestamp', 'Host timestamp');

-- Identity of the recorded process: exactly one row.
CREATE TABLE IF NOT EXISTS SWINSCOPE_RUN (
    schemaVersion INTEGER NOT NULL, -- Version of the SWINSCOPE_* part; readers refuse a newer one.
    source TEXT NOT NULL, -- Who recorded: swinscope, kineto or nsys.
    sourceFile TEXT NOT NULL, -- File that was imported, empty for own recordings.
    rank INTEGER NOT NULL, -- Rank of the process in its job, 0 for a single process.
    worldSize INTEGER NOT NULL, -- Number of ranks of the job, 0 when unknown.
    globalPid INTEGER NOT NULL, -- Serialized process id of the rank.
    host TEXT NOT NULL, -- Host name, empty when unknown.
    command TEXT NOT NULL, -- Command line, empty when unknown.
    complete INTEGER NOT NULL -- 1 when nothing of the process is missing, 0 when it was cut off: within a range, or with CUDA records on their way.
);

-- Collective communication operations: arguments that a kernel row has no room for.
CREATE TABLE IF NOT EXISTS SWINSCOPE_COLLECTIVE (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    correlationId INTEGER NOT NULL, -- Joins the kernel.
    graphNodeId INTEGER, -- Joins the kernel inside a CUDA graph, NULL outside graphs.
    name TEXT NOT NULL, -- Collective, e.g. allreduce.
    inElements INTEGER NOT NULL, -- Elements sent per rank.
    outElements INTEGER NOT NULL, -- Elements received per rank.
    dtype TEXT NOT NULL, -- Element type as the source names it; Byte where it tells bytes only, as NCCL does.
    groupSize INTEGER NOT NULL, -- Ranks in the communicator.
    groupName TEXT NOT NULL, -- Communicator (of NCCL the hash that all its ranks share) or process group.
    ranks TEXT NOT NULL, -- Members as the source lists them, empty when unknown.
    seq INTEGER -- Sequence number within the group, NULL when unknown.
);

-- Communicators of NCCL, as its profiler plugin is told of them. This and the following three are there where `record --trace …,nccl`
-- made the file. The ids count events of the process.
CREATE TABLE IF NOT EXISTS SWINSCOPE_NCCL_COMMUNICATOR (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    communicatorId INTEGER NOT NULL, -- Identifies the communicator in the process.
    start INTEGER NOT NULL, -- Time of its initialization (ns).
    end INTEGER, -- Time of its end (ns), NULL when it was still in use.
    groupName TEXT NOT NULL, -- The hash that all ranks of it share, as in SWINSCOPE_COLLECTIVE.
    name TEXT NOT NULL, -- As the program named it, mostly empty.
    rank INTEGER NOT NULL, -- Of this process in the communicator.
    groupSize INTEGER NOT NULL, -- Ranks in the communicator.
    nodes INTEGER NOT NULL -- Hosts that these are on.
);

-- Operations that NCCL handed over to the GPU: a row each time, also for each replay of a CUDA graph. Times are those of the host.
CREATE TABLE IF NOT EXISTS SWINSCOPE_NCCL_OPERATION (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    globalTid INTEGER NOT NULL, -- Serialized id of the thread: that of the call, or one of the driver's.
    operationId INTEGER NOT NULL, -- Identifies the operation in the process.
    communicatorId INTEGER, -- SWINSCOPE_NCCL_COMMUNICATOR.communicatorId, NULL when unknown.
    planId INTEGER, -- The same of all operations that one kernel carries out, NULL when unknown.
    callGroupId INTEGER, -- The same of all operations of one call, or of one group of calls, and their launches; NULL when unknown.
    start INTEGER NOT NULL, -- Begin of handing it over (ns).
    end INTEGER, -- End of handing it over (ns), NULL when unknown.
    kind INTEGER NOT NULL, -- 0: collective, 1: send or receive, 2: collective carried out by copy engines.
    name TEXT NOT NULL, -- NCCL's function, e.g. AllReduce.
    count INTEGER NOT NULL, -- Elements, as the call counts them.
    dtype TEXT NOT NULL, -- Type of the elements as NCCL names it.
    peer INTEGER NOT NULL, -- The other rank of a send or receive, the root of a collective.
    algorithm TEXT NOT NULL, -- RING, TREE…; empty where there is none.
    protocol TEXT NOT NULL, -- LL, LL128, SIMPLE; empty where there is none.
    channels INTEGER, -- Channels (thread blocks) that carry it out, NULL when unknown.
    seq INTEGER, -- Sequence number of the function in the communicator, NULL of a send or receive.
    isCaptured INTEGER, -- 1: the call was captured into a CUDA graph, NULL when unknown (NCCL before 2.28).
    correlationId INTEGER, -- Joins the kernel, NULL where it is not known for certain which one it is.
    graphNodeId INTEGER -- Joins the kernel inside a CUDA graph, NULL outside graphs.
);

-- Calls of NCCL that launch a kernel, or capture it into a CUDA graph (NCCL 2.28 and newer).
CREATE TABLE IF NOT EXISTS SWINSCOPE_NCCL_LAUNCH (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    globalTid INTEGER NOT NULL, -- Serialized id of the thread.
    start INTEGER NOT NULL, -- Begin of the launch (ns).
    end INTEGER, -- End of the launch (ns), NULL when unknown.
    communicatorId INTEGER, -- SWINSCOPE_NCCL_COMMUNICATOR.communicatorId, NULL when unknown.
    callGroupId INTEGER -- As of the operations that it launches, NULL when unknown.
);

-- What one channel (thread block) of NCCL's kernel spent on one operation, by the GPU's own timer. It is put on the trace's clock by the
-- kernel: the operations of a kernel begin and end within it, which leaves an offset of half of what the kernel is longer, up or down.
CREATE TABLE IF NOT EXISTS SWINSCOPE_NCCL_CHANNEL (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    operationId INTEGER NOT NULL, -- SWINSCOPE_NCCL_OPERATION.operationId.
    channel INTEGER NOT NULL, -- Number of the channel.
    gpuStart INTEGER, -- Begin by the GPU's timer (ns), NULL when unknown.
    gpuEnd INTEGER, -- End by the GPU's timer (ns), NULL when unknown.
    start INTEGER, -- Begin (ns), NULL when the kernel is not known or does not hold it.
    end INTEGER, -- End (ns), NULL as above.
    errorNs INTEGER -- By how much both may be too early or too late together (ns), NULL as above; the timer's own steps, 1 us on many GPUs, come on top.
);

-- CPU time of the threads of the recorded process, sampled a few times a second. A thread has no row while it does not run;
-- the row before its next one then repeats the old value, so that a line through the rows is right.
CREATE TABLE IF NOT EXISTS SWINSCOPE_THREAD_CPU (
    timestamp INTEGER NOT NULL, -- Time of the sample (ns).
    globalTid INTEGER NOT NULL, -- Serialized thread id; tid 0 stands for the whole process, threads that have ended included.
    cpuNs INTEGER NOT NULL -- User and system CPU time of the thread since it began (ns).
);

-- The processes that ran below `swinscope record`, seen from outside, whether or not they were recorded themselves. The CPU
-- time of a rank is that of its process and of all processes below it: the sum of cpuNs and unseenCpuNs.
CREATE TABLE IF NOT EXISTS SWINSCOPE_PROCESS (
    globalPid INTEGER NOT NULL, -- Serialized process id.
    start INTEGER NOT NULL, -- Start (ns), to a hundredth of a second; tells apart processes that had the same id.
    end INTEGER, -- End (ns), to one sampling period; NULL while the process runs.
    parentGlobalPid INTEGER, -- The process that started it, NULL for the command itself.
    rank INTEGER, -- Rank that the process belongs to, its own or that of the process above it; NULL when it has none.
    name TEXT NOT NULL, -- Short name.
    command TEXT NOT NULL, -- Command line.
    cpuNs INTEGER NOT NULL, -- User and system CPU time of the process without its children (ns).
    unseenCpuNs INTEGER NOT NULL, -- CPU time of children that came and went between two samples and have no row (ns).
    maxRssBytes INTEGER NOT NULL, -- Largest resident memory seen (bytes).
    PRIMARY KEY (globalPid, start)
);

-- CPU time and memory of those processes over time.
CREATE TABLE IF NOT EXISTS SWINSCOPE_PROCESS_CPU (
    timestamp INTEGER NOT NULL, -- Time of the sample (ns).
    globalPid INTEGER NOT NULL, -- Serialized process id.
    cpuNs INTEGER NOT NULL, -- User and system CPU time of the process so far, without its children (ns).
    rssBytes INTEGER NOT NULL -- Resident memory (bytes).
);

-- Records that were lost or could not be read, and why. No rows: nothing was lost.
CREATE TABLE IF NOT EXISTS SWINSCOPE_DROPS (
    what TEXT NOT NULL, -- Kind of record.
    count INTEGER NOT NULL, -- How many.
    reason TEXT NOT NULL -- Why, with the place of the first one where known.
);

-- How the recording itself went and what it cost, one fact a row: whether CUDA was recorded and why not, versions, bytes of
-- CUPTI's records, time spent in flushing, memory at most.
CREATE TABLE IF NOT EXISTS SWINSCOPE_COLLECTOR (
    name TEXT NOT NULL, -- Fact, e.g. cuda.activity, cuda.cupti, writer.cpu_ns.
    value TEXT NOT NULL -- Value.
);

-- When CUDA was recorded, where that was not throughout (`record --steps`, `--capture-range`, `--armed`): one row for each
-- time. Ranges and CPU times are there of the whole run. Figures of a step are of steps within these times.
CREATE TABLE IF NOT EXISTS SWINSCOPE_WINDOW (
    start INTEGER NOT NULL, -- The recording of CUDA began (ns).
    end INTEGER NOT NULL -- It ended (ns), or the file did.
);

-- The machine, software and settings of the run, one fact a row.
CREATE TABLE IF NOT EXISTS SWINSCOPE_ENVIRONMENT (
    name TEXT NOT NULL, -- Fact, e.g. cpu.model, cuda.driver, nccl.version, env.NCCL_ALGO.
    value TEXT NOT NULL -- Value.
);

-- What of the rank is compared with the others of its job, written when a recording is finished: a row for each device,
-- one without a device where no GPU worked. Times are of the measured steps, as docs/metrics.md defines them. Who changes
-- the event tables may delete it.
CREATE TABLE IF NOT EXISTS SWINSCOPE_SUMMARY (
    version INTEGER NOT NULL, -- Version of this table; another one is ignored.
    source TEXT NOT NULL, -- What it was made from; it is ignored when the events are no longer the same.
    rank INTEGER NOT NULL, -- Rank in the job.
    worldSize INTEGER NOT NULL, -- Ranks of the job, 0 when unknown.
    host TEXT NOT NULL, -- Host name, empty when unknown.
    steps INTEGER NOT NULL, -- Measured steps, 0 when the times are of the whole recording.
    stepNs INTEGER, -- Time of a step of this rank (ns), NULL without steps.
    warmupSteps INTEGER, -- Steps of warm-up that were left out, NULL when no experiment says.
    deviceId INTEGER, -- CUDA device ordinal in the process, NULL without one; so are the columns below.
    events INTEGER, -- Kernels, copies and sets.
    deviceSteps INTEGER, -- Steps in which the device worked.
    windowNs INTEGER, -- Length of the window (ns).
    busyNs INTEGER, -- Time in which anything ran (ns).
    computeNs INTEGER, -- In kernels of known kind that do not communicate (ns).
    mathNs INTEGER, -- In matrix products, convolutions and attention (ns).
    unknownNs INTEGER, -- In kernels of unknown kind alone (ns).
    communicationNs INTEGER, -- In communication (ns).
    exposedCommunicationNs INTEGER, -- In communication alone (ns).
    memoryNs INTEGER, -- In copies and sets (ns).
    exposedMemoryNs INTEGER, -- In copies and sets alone (ns).
    exposedHostCopyNs INTEGER, -- In copies between host and device alone (ns).
    nonCommunicationNs INTEGER, -- In all but communication (ns).
    kernelSumNs INTEGER, -- Sum of the durations of kernels (ns).
    idleInputNs INTEGER, -- Idle while the host waited for data (ns).
    idleSynchronizationNs INTEGER, -- Idle while the host was blocked in a synchronizing call (ns).
    idleHostNs INTEGER, -- Idle until the host launched (ns).
    idleCommunicationNs INTEGER, -- Idle until a collective began or ended (ns).
    idleDependencyNs INTEGER, -- Idle until another stream or event was done (ns).
    idleOtherNs INTEGER -- Idle, the launch that ended it was not recorded (ns).
);

-- The timeline that the viewer opens the file with: at most one row. It says again what the event tables say, laid out
-- for drawing, and is written when a recording is finished; who changes those tables may delete it.
CREATE TABLE IF NOT EXISTS SWINSCOPE_TIMELINE (
    version INTEGER NOT NULL, -- Version of the SWINSCOPE_TIMELINE_* tables; another one is ignored.
    source TEXT NOT NULL, -- What the timeline was made from; it is ignored when the events are no longer the same.
    description TEXT NOT NULL -- What kind of file that was.
);

-- The processes of the timeline.
CREATE TABLE IF NOT EXISTS SWINSCOPE_TIMELINE_PROCESS (
    process INTEGER NOT NULL PRIMARY KEY, -- 0, 1, ...
    rank INTEGER NOT NULL, -- Rank in the job.
    worldSize INTEGER NOT NULL, -- Ranks of the job, 0 when unknown.
    globalPid INTEGER NOT NULL, -- Serialized process id.
    utcEpochNs INTEGER NOT NULL, -- Start of the session, ns since 1970-01-01 UTC; 0 when unknown.
    host TEXT NOT NULL, -- Host name, empty when unknown.
    source TEXT NOT NULL, -- Who recorded: swinscope, kineto or nsys.
    stepsHow TEXT NOT NULL, -- How the steps were found.
    steps BLOB NOT NULL -- Begin and end of each step (ns): for each, the distance from the last number, as below.
);

-- The names of the events: name n is the n-th of all rows, from 0.
CREATE TABLE IF NOT EXISTS SWINSCOPE_TIMELINE_NAMES (
    part INTEGER NOT NULL PRIMARY KEY, -- 0, 1, ...
    data BLOB NOT NULL -- For each name its length and its bytes.
);

-- The lanes, in the order in which they are shown.
CREATE TABLE IF NOT EXISTS SWINSCOPE_TIMELINE_LANE (
    lane INTEGER NOT NULL PRIMARY KEY, -- 0, 1, ...
    process INTEGER NOT NULL, -- SWINSCOPE_TIMELINE_PROCESS.process.
    kind INTEGER NOT NULL, -- 0 kernels, 1 communication kernels, 2 copies and sets, 3 ranges, 4 CUDA calls.
    deviceId INTEGER NOT NULL, -- CUDA device ordinal, of kinds 0 to 2.
    contextId INTEGER NOT NULL, -- CUDA context, of kinds 0 to 2.
    streamId INTEGER NOT NULL, -- CUDA stream, of kinds 0 to 2.
    globalTid INTEGER NOT NULL, -- Serialized thread id, of kinds 3 and 4.
    domainId INTEGER NOT NULL, -- NVTX domain, of kind 3.
    depth INTEGER NOT NULL, -- Enclosing ranges, of kind 3.
    sublane INTEGER NOT NULL, -- 0, 1, ...: events of the same lane that overlap are in different ones.
    label TEXT NOT NULL, -- Name shown.
    events INTEGER NOT NULL, -- How many.
    firstChunk INTEGER NOT NULL, -- SWINSCOPE_TIMELINE_CHUNK.chunk of its first events.
    chunks INTEGER NOT NULL, -- How many chunks, one behind the other.
    preview BLOB NOT NULL -- A coarse version of the lane for the first picture, coded like a chunk; empty when a chunk does.
);

-- The events of the lanes, up to 65536 in a chunk. Numbers are LEB128: 7 bits a byte, lowest first, bit 7 set but in the
-- last; z(x) is zigzag, 2 x for x >= 0 and -2 x - 1 else. A chunk begins with z(start of its first event in ns). For each
-- event follow: start - end of the last one (0 for the first), duration, name, index in the trace view - that of the last
-- one (0 before the first), and for kinds 0 to 2 z(launch - last launch), where launch is 1 + the index of the launching
-- call, 0 when not recorded, and the last one of the first event is 0.
CREATE TABLE IF NOT EXISTS SWINSCOPE_TIMELINE_CHUNK (
    chunk INTEGER NOT NULL PRIMARY KEY, -- 0, 1, ...
    data BLOB NOT NULL -- The events.
);
