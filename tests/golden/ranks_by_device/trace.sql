-- [nsys 3.25] The processes that used a GPU become ranks in the order of their first device.
--
-- process 300: GPU 0 -> rank 0;  process 200: GPU 1 -> rank 1;  process 100: GPUs 2 and 3 -> rank 2 (by its smaller one, though
-- its row for GPU 3 stands first). Process 400 used no GPU: no rank, and its NVTX range goes to rank 0, as well as the range
-- of process 300.
--
-- durations of everything recorded: rank 0: ranges 100 .. 900 and 1000 .. 1600, kernel 1000 .. 1500 -> 1500;
--   rank 1: kernel 2000 .. 2250, copy 2300 .. 2400 -> 400; rank 2: kernels 10 .. 20 and 30 .. 60 -> 50.
INSERT INTO kernel (start, end, pid, device, name) VALUES
    (30, 60, 100, 3, 'b'), (10, 20, 100, 2, 'a'), (2000, 2250, 200, 1, 'a'), (1000, 1500, 300, 0, 'a');
INSERT INTO copy (start, end, pid, device, bytes) VALUES (2300, 2400, 200, 1, 4096);
INSERT INTO range (start, end, pid, name) VALUES (1000, 1600, 300, 'forward'), (100, 900, 400, 'load');
INSERT INTO PROCESSES VALUES
    (1 << 24, 1, 'init'), (100 << 24, 100, 'python-c'), (200 << 24, 200, 'python-b'), (300 << 24, 300, 'python-a'), (400 << 24, 400, 'loader');
