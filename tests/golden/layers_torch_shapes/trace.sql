-- [own schema] Operators of PyTorch whose inputs were recorded: what their products cost.
--
-- aten::linear (number 4) calls aten::addmm of 1568 x 96 and 96 x 288 in fp32: 2 x 1568 x 96 x 288 = 86,704,128 FLOP; it reads
-- 4 (1568 x 96 + 96 x 288) = 712,704 bytes and writes 4 x 1568 x 288 = 1,806,336. In 20,000 ns of GPU time: 4.335 TFLOP/s and
-- (712,704 + 1,806,336) / 20,000 = 125.952 GB/s.
-- Its node in the backward pass calls two aten::mm: 1568 x 288 and 288 x 96, then 288 x 1568 and 1568 x 96, each as many FLOP as the
-- forward: 173,408,256. Read 4 (1568 x 288 + 288 x 96) + 4 (288 x 1568 + 1568 x 96) = 1,916,928 + 2,408,448 = 4,325,376, written
-- 4 x 1568 x 96 + 4 x 288 x 96 = 602,112 + 110,592 = 712,704. In 40,000 ns: 4.335 TFLOP/s, 125.952 GB/s.
-- aten::conv2d calls aten::cudnn_convolution in fp16, whose stride is not recorded: no cost. Its node calls
-- aten::convolution_backward with the gradient of the result, 8 x 96 x 56 x 56, and filters of 96 x 3 x 4 x 4: twice
-- 2 x (8 x 56 x 56) x 96 x 48 = 462,422,016 FLOP; it reads the gradient twice, the images and the filters,
-- 2 (2 x 2,408,448 + 1,204,224 + 4,608) = 12,051,456 bytes, and writes 2 (1,204,224 + 4,608) = 2,417,664. In 10,000 ns: 46.24 TFLOP/s, 1,446.912 GB/s.
-- aten::gelu reads bf16, and is no product. aten::bmm has sizes that no memory holds: no cost. aten::mm has no shapes.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, domain, name, payload) VALUES
    (10000, 50000, 1, 'torch.cpu_op', 'aten::linear', '{"input_dims":[[8,196,96],[288,96],[288]],"input_types":["float","float","float"]}'),
    (20000, 40000, 1, 'torch.cpu_op', 'aten::addmm', '{"input_dims":[[288],[1568,96],[96,288],[],[]],"input_types":["float","float","float","Scalar","Scalar"]}'),
    (50000, 60000, 1, 'torch.cpu_op', 'aten::conv2d', '{"input_dims":[[8,3,224,224],[96,3,4,4],[96]],"input_types":["c10::Half","c10::Half","c10::Half"]}'),
    (52000, 58000, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,3,224,224],[96,3,4,4],[]],"input_types":["c10::Half","c10::Half","ScalarList"]}'),
    (60000, 70000, 1, 'torch.cpu_op', 'aten::gelu', '{"input_dims":[[8,196,288],[]],"input_types":["c10::BFloat16",""]}'),
    (70000, 80000, 1, 'torch.cpu_op', 'aten::bmm', '{"input_dims":[[4000000000,4000000000,4000000000],[4000000000,4000000000,4000000000]],"input_types":["float","float"]}'),
    (80000, 90000, 1, 'torch.cpu_op', 'aten::mm', NULL),
    (200000, 300000, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: AddmmBackward0', NULL),
    (210000, 220000, 2, 'torch.cpu_op', 'aten::mm', '{"input_dims":[[1568,288],[288,96]],"input_types":["float","float"]}'),
    (230000, 240000, 2, 'torch.cpu_op', 'aten::mm', '{"input_dims":[[288,1568],[1568,96]],"input_types":["float","float"]}'),
    (300000, 400000, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: ConvolutionBackward0', NULL),
    (310000, 390000, 2, 'torch.cpu_op', 'aten::convolution_backward', '{"input_dims":[[8,96,56,56],[8,3,224,224],[96,3,4,4],[]],"input_types":["c10::Half","c10::Half","c10::Half","ScalarList"]}');
UPDATE NVTX_EVENTS SET int64Value = 4 WHERE start IN (10000, 20000, 200000);
UPDATE NVTX_EVENTS SET int64Value = 5 WHERE start IN (50000, 300000);
UPDATE NVTX_EVENTS SET int64Value = 6 WHERE start = 60000;
UPDATE NVTX_EVENTS SET int64Value = 7 WHERE start = 70000;
UPDATE NVTX_EVENTS SET int64Value = 8 WHERE start = 80000;
INSERT INTO call (start, end, thread, correlation) VALUES
    (25000, 26000, 1, 1), (53000, 54000, 1, 2), (61000, 62000, 1, 3), (71000, 72000, 1, 4), (81000, 82000, 1, 5),
    (211000, 212000, 2, 6), (231000, 232000, 2, 7), (311000, 312000, 2, 8);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (30000, 50000, 1, 'ampere_sgemm_128x64_tn'), (60000, 65000, 2, 'conv'), (66000, 68000, 3, 'gelu'), (73000, 74000, 4, 'bmm'),
    (83000, 84000, 5, 'mm'), (220000, 250000, 6, 'ampere_sgemm_128x64_nn'), (250000, 260000, 7, 'ampere_sgemm_64x64_nt'),
    (320000, 330000, 8, 'dgrad');
