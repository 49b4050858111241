-- [own schema] Power, clocks and throttling of the samples within the window of two steps, 1000 .. 3000.
--
-- Samples at 1500 and 2500 count, those at 500 and 3500 do not. Power 300 and 500 W: mean 400 W; energy 400 W x 2 us = 0.0008 J, 0.0004 J a step.
-- SM clock 1980 and 1200 MHz: mean 1590; the GPU's highest is 1980 MHz. Hottest: 65.
-- Reasons: 2 (clocks as they were set: not throttled) and 0x44 (power cap, hardware thermal slowdown): 1 of 2 samples, each reason 50 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (1000, 2000, 'swinscope', 'step'), (2000, 3000, 'swinscope', 'step');
INSERT INTO call (start, end, correlation) VALUES (1010, 1020, 1), (2010, 2020, 2);
INSERT INTO kernel (start, end, correlation, name) VALUES (1100, 1200, 1, 'gemm'), (2100, 2200, 2, 'gemm');
INSERT INTO TARGET_INFO_GPU (vmId, id, name, clockRate, uuid, cuDevice) VALUES (0, 0, 'NVIDIA H200', 1980000000, 'GPU-1', 0);
INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid) VALUES (0, 0, 100, 'GPU-1');
INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName) VALUES
    (0, 1, 'NVML', 1, 'SM clock [MHz]'), (0, 1, 'NVML', 3, 'Power [mW]'), (0, 1, 'NVML', 4, 'Temperature [C]'),
    (0, 1, 'NVML', 7, 'Throttle reasons [NVML bits]');
INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES
    (500, 0, 1, 100), (1500, 0, 1, 1980), (2500, 0, 1, 1200), (3500, 0, 1, 100),
    (500, 0, 3, 90000), (1500, 0, 3, 300000), (2500, 0, 3, 500000), (3500, 0, 3, 90000),
    (500, 0, 4, 99), (1500, 0, 4, 60), (2500, 0, 4, 65),
    (500, 0, 7, 1), (1500, 0, 7, 2), (2500, 0, 7, 68);
