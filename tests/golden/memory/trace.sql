-- [own schema] Levels of a device's memory: by PyTorch's allocator, which keeps 10 bytes more each step, and by CUDA.
--
-- Six steps of 1000, from 1000 on. Allocated: 100 before them; in step k (0 to 5) 1000 + 10 k at its 200, in the third 5000, and
-- 110 + 10 k from its 900 on: levels at the ends 110, 120, … 160, growth 10 each. The peak, 5000, is at 3200, within "layer".
-- Reserved: 8192, from 3200 on 16384: grows once, by 8192: median 0.
-- CUDA: 4096 from 1500 to 2500, the release of which does not say its size; what is pinned on the host (kind 1) does not count.
--   Levels at the ends 4096, 0, 0, 0, 0, 0: growth -4096, 0, 0, 0, 0.
-- The rank's first record is at 1000.
INSERT INTO run (rank) VALUES (0);
CREATE TEMP TABLE k AS WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k < 5) SELECT k FROM k;
INSERT INTO range (start, end, domain, name) SELECT 1000 + 1000 * k, 2000 + 1000 * k, 'swinscope', 'step' FROM k;
INSERT INTO range (start, end, name) VALUES (3100, 3300, 'layer');
INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName) VALUES
    (1024, 4, 'allocator', 1, 'PyTorch allocated [bytes]'), (1024, 4, 'allocator', 2, 'PyTorch reserved [bytes]');
INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES (500, 1024, 1, 100), (500, 1024, 2, 8192), (3200, 1024, 2, 16384);
INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value)
SELECT 1200 + 1000 * k, 1024, 1, CASE WHEN k = 2 THEN 5000 ELSE 1000 + 10 * k END FROM k
UNION ALL SELECT 1900 + 1000 * k, 1024, 1, 110 + 10 * k FROM k;
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId, address, pc, bytes, memKind, memoryOperationType) VALUES
    (1500, 100 << 24, 0, 1, 7, 0, 4096, 2, 0), (1600, 100 << 24, 0, 1, 8, 0, 512, 1, 0), (2500, 100 << 24, 0, 1, 7, 0, 0, 2, 1);
DROP TABLE k;
