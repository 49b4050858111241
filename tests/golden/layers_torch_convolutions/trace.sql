-- [own schema] Convolutions of PyTorch, whose padding, stride and dilation stand in "Concrete Inputs": their results' size follows, and with
-- it what they cost. Out of `size` pixels come (size + 2 padding - dilation (filter - 1) - 1) / stride + 1.
--
-- patches: 224 -> (224 - 3 - 1) / 4 + 1 = 56: 2 x (8 x 56 x 56) x 96 x (3 x 4 x 4) = 231,211,008 FLOP; in fp16 it reads 2 (8 x 3 x 224 x 224 + 96 x 48) =
-- 2,417,664 bytes and writes 2 x 25,088 x 96 = 4,816,896. In 10,000 ns: 23.12 TFLOP/s, 723.456 GB/s.
-- strided: 56 -> (56 + 2 - 2 - 1) / 2 + 1 = 28: 2 x (8 x 28 x 28) x 128 x (64 x 3 x 3) = 924,844,032 FLOP; it reads 2 (1,605,632 + 73,728) = 3,358,720
-- bytes and writes 2 x 6,272 x 128 = 1,605,632. In 10,000 ns: 92.48 TFLOP/s, 496.4352 GB/s.
-- grouped: dilated, 56 -> (56 + 4 - 4 - 1) / 1 + 1 = 56, in 32 groups of 2 channels: 2 x 25,088 x 64 x (2 x 3 x 3) = 57,802,752 FLOP; in fp32 it reads
-- 4 (1,605,632 + 1,152) = 6,427,136 bytes and writes 4 x 25,088 x 64 = 6,422,528. In 10,000 ns: 5.780 TFLOP/s, 1,284.9664 GB/s.
-- The others have a stride of 0, an image smaller than the filter, no arguments, or one list too few: no cost.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, domain, name, payload) VALUES
    (10000, 20000, 1, 'torch.cpu_op', 'patches::conv2d', NULL),
    (20000, 30000, 1, 'torch.cpu_op', 'strided::conv2d', NULL),
    (30000, 40000, 1, 'torch.cpu_op', 'grouped::conv2d', NULL),
    (40000, 50000, 1, 'torch.cpu_op', 'no_stride::conv2d', NULL),
    (50000, 60000, 1, 'torch.cpu_op', 'small_image::conv2d', NULL),
    (60000, 70000, 1, 'torch.cpu_op', 'no_arguments::conv2d', NULL),
    (70000, 80000, 1, 'torch.cpu_op', 'few_arguments::conv2d', NULL),
    (10500, 19500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,3,224,224],[96,3,4,4],[],[],[],[]],"input_types":["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar"],"concrete_inputs":["","","[0, 0]","[4, 4]","[1, 1]","1"]}'),
    (20500, 29500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,64,56,56],[128,64,3,3],[],[],[],[]],"input_types":["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar"],"concrete_inputs":["","","[1, 1]","[2, 2]","[1, 1]","1"]}'),
    (30500, 39500, 1, 'torch.cpu_op', 'aten::miopen_convolution', '{"input_dims":[[8,64,56,56],[64,2,3,3],[],[],[],[]],"input_types":["float","float","","ScalarList","ScalarList","ScalarList"],"concrete_inputs":["","","","[2, 2]","[1, 1]","[2, 2]","32"]}'),
    (40500, 49500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,64,56,56],[64,64,3,3],[]],"input_types":["float","float"],"concrete_inputs":["","","[1, 1]","[0, 0]","[1, 1]","1"]}'),
    (50500, 59500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,64,2,2],[64,64,3,3],[]],"input_types":["float","float"],"concrete_inputs":["","","[0, 0]","[1, 1]","[1, 1]","1"]}'),
    (60500, 69500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,64,56,57],[64,64,3,3],[]],"input_types":["float","float"]}'),
    (70500, 79500, 1, 'torch.cpu_op', 'aten::cudnn_convolution', '{"input_dims":[[8,64,56,58],[64,64,3,3],[]],"input_types":["float","float"],"concrete_inputs":["","","[1, 1]","[1, 1]","False"]}');
INSERT INTO call (start, end, thread, correlation) VALUES
    (11000, 12000, 1, 1), (21000, 22000, 1, 2), (31000, 32000, 1, 3), (41000, 42000, 1, 4), (51000, 52000, 1, 5), (61000, 62000, 1, 6), (71000, 72000, 1, 7);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (100000, 110000, 1, 'conv'), (110000, 120000, 2, 'conv'), (120000, 130000, 3, 'conv'), (130000, 140000, 4, 'conv'), (140000, 150000, 5, 'conv'),
    (150000, 160000, 6, 'conv'), (160000, 170000, 7, 'conv');
