-- [own schema] Compute and NCCL on two streams: overlap, exposed communication, busy; copies under compute and alone.
--
--   time      0   200  400  500 550 600 650 700  800   1100 1150 1250   (+ 10000)
--   stream 7  [--- gemm --]  [------ gelu -------]
--   stream 20     [---- nccl ----]       [---- nccl ----]
--   stream 9                    [copy ]                      [copy ]
--
-- compute       = |0 .. 400, 500 .. 800|            = 700, of it math (gemm) 400
-- communication = |200 .. 600, 700 .. 1100|         = 800
-- compute n communication = 200 .. 400, 500 .. 600, 700 .. 800 = 400: overlap 50 %, exposed communication 400
-- memory        = 550 .. 650, 1150 .. 1250          = 200; the first lies under compute: exposed memory 100
-- busy          = 700 + 400 + 100 = 1200 of 1250    = 96 %, idle 50 = 4 %
-- gpu_compute   = |compute or memory| / 1250 = (700 + 100) / 1250 = 64 %
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, stream, name) VALUES
    (10000, 10400, 7, 'sm90_xmma_gemm_f16f16'),
    (10500, 10800, 7, 'void gelu_kernel(float*)'),
    (10200, 10600, 20, 'ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),
    (10700, 11100, 20, 'ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)');
INSERT INTO copy (start, end, stream, bytes) VALUES (10550, 10650, 9, 100), (11150, 11250, 9, 100);
