-- [no schema] An export of kernels and strings only: no calls, no ranges, no copies, no meta data. What is there is analyzed.
--
-- GPU 0: kernels 100 .. 300 and 500 .. 600, window 500, busy 300 = 60 %, idle 200, of unknown cause: other.
-- By name: both are matrix products: math = compute = 300, so compute-bound with 60 %, other 40 %.
-- No call was recorded at all: the launches are not recorded, rather than "launched before" the first recorded call.
-- AKD (200 + 100) / 2 = 150.
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (4, 'void gemm<float>(float*)'), (5, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (100, 300, 0, 7, 21, (1 << 48) + (9 << 24), 4, 5),
    (500, 600, 0, 7, 22, (1 << 48) + (9 << 24), 4, 5);
