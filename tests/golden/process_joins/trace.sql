-- [nsys 3.25] Correlation ids are unique within a process only: a launch joins its kernel on the id and the process.
--
-- globalPid = 1 << 48 | pid << 24, globalTid = globalPid | tid. Process 111 uses GPU 0, process 222 GPU 1; both count
-- their correlation ids from 1. The launches of process 222 come from two of its threads.
--
-- rank 0 (process 111)  call                kernel             API   queue   delay
--   id 1                5000 .. 5100        5300 .. 5500       100     200     300
--   id 2                6000 .. 6200        6400 .. 6500       200     200     400
-- rank 1 (process 222)
--   id 1                5000 .. 5400        5600 .. 6000       400     200     600
--   id 3                7000 .. 7100        7200 .. 7400       100     100     200
--   id 2                none in process 222 8000 .. 8300       (its call was not recorded: 111's id 2 must not be taken)
--
-- rank 0: 2 kernels, 2 joined. API total 300, median 150, p99 100 + 0.99 x 100 = 199. queue median 200, p99 200.
--   delay median 350, p99 300 + 0.99 x 100 = 399, TKLQT 700. AKD (200 + 100) / 2 = 150.
--   queue length: 1 in 5000 .. 5300 and 6000 .. 6400, over 5000 .. 6400: (300 + 400) / 1400 = 0.5, at most 1.
-- rank 1: 3 kernels, 2 joined; id 2 is not smaller than every recorded id, so not "launched before": not recorded 1.
--   API total 500, median 250, p99 100 + 0.99 x 300 = 397. queue median 150, p99 100 + 0.99 x 100 = 199.
--   delay median 400, p99 200 + 0.99 x 400 = 596, TKLQT 800. AKD (400 + 200 + 300) / 3 = 300.
--   queue length: 1 in 5000 .. 5600 and 7000 .. 7200, over 5000 .. 7200: 800 / 2200 = 0.36..., at most 1.
--
-- Idle, rank 0: one gap 5500 .. 6400 = 900, its launch began at 6000: host.
-- Idle, rank 1: 6000 .. 7200 = 1200, launch began at 7000: host; 7400 .. 8000 = 600, launch not recorded: other.
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'volta_sgemm_128x64_nn');

INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) VALUES
    (5000, 5100, 0, (1 << 48) + (111 << 24) + 111, 1, 1, 0),
    (6000, 6200, 0, (1 << 48) + (111 << 24) + 111, 2, 1, 0),
    (5000, 5400, 0, (1 << 48) + (222 << 24) + 222, 1, 1, 0),
    (7000, 7100, 0, (1 << 48) + (222 << 24) + 223, 3, 1, 0);

INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName) VALUES
    (5600, 6000, 1, 1, 7, 1, (1 << 48) + (222 << 24), 2, 2),
    (7200, 7400, 1, 1, 7, 3, (1 << 48) + (222 << 24), 2, 2),
    (8000, 8300, 1, 1, 7, 2, (1 << 48) + (222 << 24), 2, 2),
    (5300, 5500, 0, 1, 7, 1, (1 << 48) + (111 << 24), 2, 2),
    (6400, 6500, 0, 1, 7, 2, (1 << 48) + (111 << 24), 2, 2);
