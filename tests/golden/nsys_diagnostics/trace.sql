-- [nsys 3.25] What Nsight Systems itself says of its recording is said on: warnings (2) and errors (3), each once.
--
-- Two of them say that events are missing (a doubt, which `info` lists), one is about sampled call stacks, which are not
-- read, and one says nothing of loss. Information (1) is passed over.
CREATE TABLE DIAGNOSTIC_EVENT (
    timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);
INSERT INTO DIAGNOSTIC_EVENT VALUES
    (0, 1, 1, 1, 'Number of CUPTI events produced: 4', 100 << 24),
    (0, 1, 1, 2, 'Not all CUDA events might have been collected.', 100 << 24),
    (5, 1, 1, 2, 'Not all CUDA events might have been collected.', 100 << 24),
    (0, 1, 1, 3, 'CUDA trace buffers dropped 123456 events.', 100 << 24),
    (0, 2, 2, 3, 'Failed to start the sampling of call stacks.', NULL),
    (0, 2, 2, 2, 'The process was attached late.', NULL);
INSERT INTO kernel (start, end, name) VALUES (1000, 1100, 'a');
