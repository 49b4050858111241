-- [nsys 3.25] Reports of two nodes in one export: bits 48 and up of a process id say the node, and so does vmId.
--
-- Both nodes have a process 100 with GPU 0: two ranks, in the order of the nodes, each with the GPU of its own node:
-- alpha's 'GPU A' (kernel of 100 ns), beta's 'GPU B' (200 ns). A launch joins a kernel of its own node only: correlation 7 of
-- both is launched on node 2 at 1900 (delay 100) and on node 1 at 500 (delay 500).
INSERT INTO StringIds VALUES (1, 'a'), (2, 'cudaLaunchKernel');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (
    start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName) VALUES
    (1000, 1100, 0, 1, 7, 7, (1 << 48) + (100 << 24), 1, 1),
    (2000, 2200, 0, 1, 7, 7, (2 << 48) + (100 << 24), 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId) VALUES
    (500, 600, 0, (1 << 48) + (100 << 24) + 100, 7, 2), (1900, 1950, 0, (2 << 48) + (100 << 24) + 100, 7, 2);
INSERT INTO TARGET_INFO_GPU (vmId, id, name) VALUES (1 << 48, 0, 'GPU A'), (2 << 48, 0, 'GPU B');
INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid) VALUES (0, 0, 100), (0, 0, 100);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1 << 48, 'Hostname', 'alpha'), (2 << 48, 'Hostname', 'beta');
