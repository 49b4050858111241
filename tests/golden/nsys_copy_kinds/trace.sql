-- [nsys 3.25] Copies by CUPTI's kinds: migrations of managed memory (11 to 13) and copies of arrays (3 to 7) are rows of their
-- own, and a kind that nobody knows is named by its number.
--
-- 11: 100 + 150 ns; 12: 200 ns; 13: 40 ns; 3: 10 ns; 7: 20 ns; 99: 5 ns; 0 (unknown to CUPTI): 1 ns.
-- Between host and device: 100 + 150 + 200 + 10 = 460; within the device, or not known: 40 + 20 + 5 + 1 = 66, memory. The rest of
-- 1000 .. 6001 is idle, and no launch was recorded: other 5001 - 526 = 4475.
INSERT INTO copy (start, end, bytes, kind, src, dst) VALUES
    (1000, 1100, 4096, 11, 4, 4), (1200, 1350, 4096, 11, 4, 4), (2000, 2200, 8192, 12, 4, 4), (3000, 3040, 64, 13, 4, 4),
    (4000, 4010, 64, 3, 1, 3), (4100, 4120, 64, 7, 2, 3), (5000, 5005, 64, 99, 7, 7), (6000, 6001, 64, 0, 7, 7);
