-- Short forms for the rows of a trace, for [own schema] and [nsys 3.25]: what is inserted into one of these views becomes the
-- rows of the real table, with names put into StringIds. Columns that are not given have the default on the right.
-- The views are temporary: they are not in the trace.

CREATE TEMP VIEW run AS SELECT 0 AS rank, 1 AS world, 100 AS pid;
CREATE TEMP VIEW kernel AS
SELECT 0 AS start, 0 AS end, 100 AS pid, 0 AS device, 7 AS stream, NULL AS correlation, '' AS name, NULL AS node,
       1 AS grid_x, 1 AS grid_y, 128 AS block_x, 32 AS registers, 0 AS static_shared, 0 AS dynamic_shared;
-- kind: 1 HtoD, 2 DtoH; src, dst: 0 pageable, 1 pinned, 2 device.
CREATE TEMP VIEW copy AS
SELECT 0 AS start, 0 AS end, 100 AS pid, 0 AS device, 7 AS stream, NULL AS correlation, 0 AS bytes, 1 AS kind, 1 AS src, 2 AS dst;
CREATE TEMP VIEW fill AS -- a memory set
SELECT 0 AS start, 0 AS end, 100 AS pid, 0 AS device, 7 AS stream, NULL AS correlation, 0 AS bytes;
CREATE TEMP VIEW call AS -- driver: 1 for the driver API
SELECT 0 AS start, 0 AS end, 100 AS pid, 1 AS thread, NULL AS correlation, 'cudaLaunchKernel' AS name, 0 AS driver;
CREATE TEMP VIEW range AS -- domain: '' is NVTX's default domain
SELECT 0 AS start, 0 AS end, 100 AS pid, 1 AS thread, '' AS domain, '' AS name, NULL AS payload;
CREATE TEMP VIEW cpu AS -- CPU time so far; thread: 0 for the whole process
SELECT 0 AS at, 100 AS pid, 0 AS thread, 0 AS ns;
CREATE TEMP VIEW process AS -- as `record` saw it from outside; [own schema] with rank -1
SELECT 0 AS start, 100 AS pid, 0 AS parent, 0 AS rank;
CREATE TEMP VIEW process_cpu AS
SELECT 0 AS at, 100 AS pid, 0 AS ns;

CREATE TEMP TRIGGER insert_run INSTEAD OF INSERT ON run BEGIN
    INSERT INTO SWINSCOPE_RUN (schemaVersion, source, sourceFile, rank, worldSize, globalPid, host, command, complete)
    VALUES (1, 'swinscope', '', ifnull(NEW.rank, 0), ifnull(NEW.world, 1), ifnull(NEW.pid, 100) << 24, 'node', 'train', 1);
END;

CREATE TEMP TRIGGER insert_kernel INSTEAD OF INSERT ON kernel BEGIN
    INSERT INTO StringIds (value) SELECT NEW.name WHERE NEW.name NOT IN (SELECT value FROM StringIds);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (
        start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, registersPerThread,
        gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread,
        localMemoryTotal, gridId, graphNodeId)
    SELECT NEW.start, NEW.end, ifnull(NEW.device, 0), 1, ifnull(NEW.stream, 7), NEW.correlation,
           ifnull(NEW.pid, 100) << 24, id, 0, ifnull(NEW.registers, 32), ifnull(NEW.grid_x, 1),
           ifnull(NEW.grid_y, 1), 1, ifnull(NEW.block_x, 128), 1, 1, ifnull(NEW.static_shared, 0),
           ifnull(NEW.dynamic_shared, 0), 0, 0, 0, NEW.node
    FROM StringIds WHERE value = NEW.name;
END;

CREATE TEMP TRIGGER insert_copy INSTEAD OF INSERT ON copy BEGIN
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (
        start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind)
    VALUES (NEW.start, NEW.end, ifnull(NEW.device, 0), 1, ifnull(NEW.stream, 7), NEW.correlation,
            ifnull(NEW.pid, 100) << 24, ifnull(NEW.bytes, 0), ifnull(NEW.kind, 1), ifnull(NEW.src, 1), ifnull(NEW.dst, 2));
END;

CREATE TEMP TRIGGER insert_fill INSTEAD OF INSERT ON fill BEGIN
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (
        start, end, deviceId, contextId, streamId, correlationId, globalPid, value, bytes, memKind)
    VALUES (NEW.start, NEW.end, ifnull(NEW.device, 0), 1, ifnull(NEW.stream, 7), NEW.correlation,
            ifnull(NEW.pid, 100) << 24, 0, ifnull(NEW.bytes, 0), 2);
END;

CREATE TEMP TRIGGER insert_call INSTEAD OF INSERT ON call BEGIN
    INSERT INTO StringIds (value)
    SELECT ifnull(NEW.name, 'cudaLaunchKernel')
    WHERE ifnull(NEW.name, 'cudaLaunchKernel') NOT IN (SELECT value FROM StringIds);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
    SELECT NEW.start, NEW.end, ifnull(NEW.driver, 0), (ifnull(NEW.pid, 100) << 24) + ifnull(NEW.thread, 1),
           NEW.correlation, id, 0
    FROM StringIds WHERE value = ifnull(NEW.name, 'cudaLaunchKernel');
END;

CREATE TEMP TRIGGER insert_range INSTEAD OF INSERT ON range BEGIN
    -- A domain gets its number, and the row that names it, with its first range.
    INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId)
    SELECT 0, 75, NEW.domain, (ifnull(NEW.pid, 100) << 24) + 1,
           (SELECT count(*) + 1 FROM NVTX_EVENTS WHERE eventType = 75)
    WHERE ifnull(NEW.domain, '') <> '' AND NOT EXISTS (
        SELECT 1 FROM NVTX_EVENTS
        WHERE eventType = 75 AND text = NEW.domain AND globalTid >> 24 = ifnull(NEW.pid, 100));
    INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, jsonText, domainId)
    VALUES (NEW.start, NEW.end, 59, NEW.name, (ifnull(NEW.pid, 100) << 24) + ifnull(NEW.thread, 1), NEW.payload,
            ifnull((SELECT domainId FROM NVTX_EVENTS
                    WHERE eventType = 75 AND text = NEW.domain AND globalTid >> 24 = ifnull(NEW.pid, 100)), 0));
END;

CREATE TEMP TRIGGER insert_cpu INSTEAD OF INSERT ON cpu BEGIN
    INSERT INTO SWINSCOPE_THREAD_CPU (timestamp, globalTid, cpuNs)
    VALUES (NEW.at, (ifnull(NEW.pid, 100) << 24) + ifnull(NEW.thread, 0), NEW.ns);
END;

CREATE TEMP TRIGGER insert_process INSTEAD OF INSERT ON process BEGIN
    INSERT INTO SWINSCOPE_PROCESS (globalPid, start, parentGlobalPid, rank, name, command, cpuNs, unseenCpuNs, maxRssBytes)
    VALUES (NEW.pid << 24, ifnull(NEW.start, 0), NEW.parent << 24, NEW.rank, 'python', 'python train.py', 0, 0, 0);
END;

CREATE TEMP TRIGGER insert_process_cpu INSTEAD OF INSERT ON process_cpu BEGIN
    INSERT INTO SWINSCOPE_PROCESS_CPU (timestamp, globalPid, cpuNs, rssBytes)
    VALUES (NEW.at, NEW.pid << 24, NEW.ns, 0);
END;
