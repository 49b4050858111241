-- [nsys 3.25] An export of a run in which neither CUDA nor NVTX was recorded is refused with what to do, and with what Nsight
-- Systems itself says.
CREATE TABLE OSRT_API (start INTEGER, end INTEGER);
INSERT INTO OSRT_API VALUES (1, 2);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);
INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 2, 'CUDA profiling might have not been started correctly.');
