-- [own schema] A PyTorch trace with modules, as it is imported: operators by module, and their backward by the number of the node.
--
-- Thread 1 (Python functions of other kinds between the modules count for nothing):
--   Net_0 10 .. 490
--     Block_0 20 .. 200            launches a kernel of 10 itself, within no operator
--       Linear_0 30 .. 150         aten::linear 40 .. 140 (number 4) with aten::addmm in it (4): kernel of 30
--     Linear_1 210 .. 300          aten::linear 220 .. 290 (5): kernel of 20
--     aten::mean 310 .. 330 (6): kernel of 5
--   aten::ones_like 520 .. 530, in no module and without a number: kernel of 3
-- Thread 2, nodes: 6 at 600 .. 620 (8), 5 at 630 .. 650 (40), 4 at 660 .. 680 (50), and one without a number at 690 .. 700 (2).
--
-- By the first part of the path: Net_0 holds all else of its forward: one call of 480; GPU 10 + 30 + 20 + 5 = 65. Backward: three
-- nodes of 20; 8 + 40 + 50 = 98. GPU time 168 in all, all of it in layers.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (0, 500, 1, 'torch.python_function', 'train.py(10): step'),
    (10, 490, 1, 'torch.python_function', 'nn.Module: Net_0'),
    (15, 485, 1, 'torch.python_function', 'model.py(30): forward'),
    (20, 200, 1, 'torch.python_function', 'nn.Module: Block_0'),
    (30, 150, 1, 'torch.python_function', 'nn.Module: Linear_0'),
    (210, 300, 1, 'torch.python_function', 'nn.Module: Linear_1'),
    (40, 140, 1, 'torch.cpu_op', 'aten::linear'), (60, 120, 1, 'torch.cpu_op', 'aten::addmm'),
    (220, 290, 1, 'torch.cpu_op', 'aten::linear'), (310, 330, 1, 'torch.cpu_op', 'aten::mean'),
    (520, 530, 1, 'torch.cpu_op', 'aten::ones_like'),
    (600, 620, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: MeanBackward0'),
    (630, 650, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: AddmmBackward0'),
    (660, 680, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: AddmmBackward0'),
    (690, 700, 2, 'torch.cpu_op', 'autograd::engine::evaluate_function: torch::autograd::AccumulateGrad');
UPDATE NVTX_EVENTS SET int64Value = 4 WHERE start IN (40, 60, 660);
UPDATE NVTX_EVENTS SET int64Value = 5 WHERE start IN (220, 630);
UPDATE NVTX_EVENTS SET int64Value = 6 WHERE start IN (310, 600);
INSERT INTO call (start, end, thread, correlation) VALUES
    (70, 71, 1, 1), (160, 161, 1, 2), (230, 231, 1, 3), (315, 316, 1, 4), (522, 523, 1, 5), (605, 606, 2, 6), (640, 641, 2, 7),
    (665, 666, 2, 8), (695, 696, 2, 9);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (100, 130, 1, 'a'), (200, 210, 2, 'b'), (240, 260, 3, 'c'), (320, 325, 4, 'd'), (540, 543, 5, 'e'), (630, 638, 6, 'f'),
    (650, 690, 7, 'g'), (700, 750, 8, 'h'), (760, 762, 9, 'i');
