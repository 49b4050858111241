-- [own schema] What the launching operation, a collective's metadata and our own annotation say of kernels with names that say nothing
-- ("k"), and where the kernel's own name goes first. Ten kernels of 100, one after the other: each is 10 % of the busy time.
--
--   launched at   5 in aten::addmm                      k: gemm
--              15 in aten::addmm                        splitKreduce's name tells that it helps; but it has the metadata of a collective: communication
--              25 in aten::native_layer_norm, inside of aten::addmm, copies: layout
--              35 in aten::addmm, but within a graph    k: unknown, as the operation launched the graph only
--              45 in aten::cudnn_convolution            a matrix product: conv
--              55 in aten::cudnn_convolution            a fill: elementwise
--              65 in aten::gelu                         k: elementwise
--              75 in c10d::allreduce_                   k: communication
--              85 in our own range, annotated gemm      k: gemm
--              95 in aten::mm                           NCCL's name: communication
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name, payload) VALUES
    (0, 40, 'torch.cpu_op', 'aten::addmm', NULL), (20, 30, 'torch.cpu_op', 'aten::native_layer_norm', NULL),
    (40, 60, 'torch.cpu_op', 'aten::cudnn_convolution', NULL), (62, 68, 'torch.cpu_op', 'aten::gelu', NULL),
    (70, 80, 'torch.cpu_op', 'c10d::allreduce_', NULL), (90, 100, 'torch.cpu_op', 'aten::mm', NULL),
    (80, 90, 'swinscope', 'stage1.fc1', '{"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":1,"bytes_read":1,"bytes_written":1}');
INSERT INTO kernel (start, end, correlation, node, name) VALUES
    (1000, 1100, 1, NULL, 'k'), (1100, 1200, 2, NULL, 'void cublasLt::splitKreduce_kernel<32, 16>(P)'),
    (1200, 1300, 3, NULL, 'void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda>(int)'),
    (1300, 1400, 4, 9, 'k'), (1400, 1500, 5, NULL, 'ampere_sgemm_128x64_nn'),
    (1500, 1600, 6, NULL, 'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)'),
    (1600, 1700, 7, NULL, 'k'), (1700, 1800, 8, NULL, 'k'), (1800, 1900, 9, NULL, 'k'), (1900, 2000, 10, NULL, 'ncclDevKernel_SendRecv(Args)');
INSERT INTO call (start, end, correlation) SELECT 10 * correlationId - 5, 10 * correlationId - 4, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL;
INSERT INTO SWINSCOPE_COLLECTIVE (globalPid, correlationId, graphNodeId, name, inElements, outElements, dtype, groupSize, groupName, ranks, seq)
VALUES (100 << 24, 2, NULL, 'allreduce', 64, 64, 'Float', 2, 'default', '', 1);
