-- [nsys 3.25] Bound by communication, averaged over the GPUs of two processes.
--
-- GPU 0: gemm 0 .. 250, all-reduce (stream 20) 150 .. 700, idle 700 .. 800 waiting for it, gelu 800 .. 1000:
--        communication 450 exposed + 100 waited = 550, compute 250, memory 200
-- GPU 1: gemm 0 .. 250, all-reduce 250 .. 700, gelu 700 .. 1000: communication 450, compute 250, memory 300
-- Both all-reduces are one collective, matched by order: the last GPU comes at 250, so GPU 0 waits 100 (alone: 150 .. 250 lies under its
-- gemm, so nothing of it is exposed) and both transfer for 450, all of it exposed. GPU 0's idle 100 waits for it: waiting.
-- Of 2000: transfer 900 = 45 %, waiting 100 = 5 %, compute 500 = 25 %, memory 500 = 25 %; per GPU 450, 50, 250, 250.
INSERT INTO kernel (start, end, pid, device, stream, correlation, name) VALUES
    (0, 250, 100, 0, 7, 1, 'sm90_xmma_gemm'), (150, 700, 100, 0, 20, 2, 'ncclDevKernel_AllReduce'), (800, 1000, 100, 0, 7, 3, 'gelu_kernel'),
    (0, 250, 200, 1, 7, 1, 'sm90_xmma_gemm'), (250, 700, 200, 1, 20, 2, 'ncclDevKernel_AllReduce'), (700, 1000, 200, 1, 7, 3, 'gelu_kernel');
INSERT INTO call (start, end, pid, correlation) VALUES (160, 170, 100, 3);
