-- [own schema] Layers against the roofs of an H200: 989.4 TFLOP/s in fp16 by its vendor, and 4,000 GB/s of memory as the
-- recorder read it: the latter is the roof below 247.35 FLOP a byte. One step; kernels take 1,000 ns each.
--
--          GPU, ns   FLOP/byte   least by products, by memory   of roof          over it
--   attn   2,000     -           200           -                10 % of fp16     1,800
--   fc2    1,000     123.675     100           200              20 % of memory     800
--   fc1    1,000     618.375     500           200              50 % of fp16       500
--   norm   1,000     -           -             750              75 % of memory     250
--   cast     100     -           -             250              250 %: its bytes came from a cache
--   odd    1,000     not known: there is no figure for fp12
-- Together they take 5,100 a step, of which 3,350 are over the roofs.
INSERT INTO run (rank) VALUES (0);
INSERT INTO TARGET_INFO_GPU (vmId, id, name, memoryBandwidth, uuid, cuDevice) VALUES (0, 0, 'NVIDIA H200', 4000000000000, 'GPU-1', 0);
INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid) VALUES (0, 0, 100, 'GPU-1');
INSERT INTO range (start, end, domain, name, payload) VALUES
    (0, 9000, 'swinscope', 'step', NULL),
    (100, 110, 'swinscope', 'fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":494700000,"bytes_read":400000,"bytes_written":400000}'),
    (120, 130, 'swinscope', 'norm', '{"$schema":"swinscope.operation/1","class":"norm","precision":"fp16","flops":0,"bytes_read":1500000,"bytes_written":1500000}'),
    (140, 150, 'swinscope', 'fc2', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":98940000,"bytes_read":400000,"bytes_written":400000}'),
    (160, 170, 'swinscope', 'attn', '{"$schema":"swinscope.operation/1","class":"attention","precision":"fp16","flops":197880000,"bytes_read":0,"bytes_written":0}'),
    (200, 210, 'swinscope', 'cast', '{"$schema":"swinscope.operation/1","class":"elementwise","precision":"fp16","flops":0,"bytes_read":500000,"bytes_written":500000}'),
    (180, 190, 'swinscope', 'odd', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp12","flops":1000000,"bytes_read":0,"bytes_written":0}');
INSERT INTO call (start, end, correlation) VALUES (101, 102, 1), (121, 122, 2), (141, 142, 3), (161, 162, 4), (163, 164, 5), (181, 182, 6), (191, 192, 7), (201, 202, 8);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (1000, 2000, 1, 'gemm_fc1'), (2000, 3000, 2, 'layer_norm_kernel'), (3000, 4000, 3, 'gemm_fc2'), (4000, 5000, 4, 'gemm_qk'),
    (5000, 6000, 5, 'gemm_pv'), (6000, 7000, 6, 'gemm'), (7000, 8000, 7, 'gemm'), (8000, 8100, 8, 'cast');
