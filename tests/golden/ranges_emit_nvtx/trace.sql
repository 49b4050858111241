-- [nsys 3.25] The names of PyTorch's emit_nvtx carry numbers: without them equal operators are equal, and are operators.
--
-- Thread 1: forward 0 .. 100 with aten::linear 10 .. 50 and 60 .. 90; in each an aten::t of 2 and an aten::addmm of 20 that
--   launches a kernel of 20 (30 .. 50, 80 .. 100). Optimizer.step 200 .. 300 with aten::_foreach_add_ of 20, kernel 220 .. 230 (10).
--   `decode, seq = 128` counts tokens: it is the program's own name and stays as it is.
-- Thread 2: the backward pass: AddmmBackward0 with number 10 at 110 .. 150, in it the function of that name 115 .. 145, in it
--   aten::mm 120 .. 140 (kernel 130 .. 160: 30); with number 8 at 160 .. 180, the function 162 .. 178 (kernel 170 .. 175: 5).
--
-- forward: self 100 - 40 - 30 = 30; sum 40, span 30 .. 100. linear: 70 in 2 calls; self (40 - 22) + (30 - 22) = 26.
-- evaluate_function: 60; self 60 - (30 + 16) = 14; sum 35. The function: 46, self 46 - 20 = 26.
-- Layers: the operator with no other around it. Forward: linear, with other shapes at each call. Its backward: numbers 10 and 8
-- are those of the two addmm, which ran in a linear: 40 + 20 of the host, kernels 30 + 5.
INSERT INTO range (start, end, thread, name) VALUES
    (0, 100, 1, 'forward'),
    (10, 50, 1, 'aten::linear, seq = 7, op_id = 1, sizes = [[8, 96], [32, 96], []]'),
    (12, 14, 1, 'aten::t, seq = 7, op_id = 2, sizes = [[32, 96]]'),
    (20, 40, 1, 'aten::addmm, seq = 8, op_id = 3, sizes = [[], [8, 96], [96, 32]], input_op_ids = [(1,0), (2,0)]'),
    (60, 90, 1, 'aten::linear, seq = 9, op_id = 4, sizes = [[8, 32], [16, 32], []]'),
    (62, 64, 1, 'aten::t, seq = 9, op_id = 5, sizes = [[16, 32]]'),
    (65, 85, 1, 'aten::addmm, seq = 10, op_id = 6, sizes = [[], [8, 32], [32, 16]], input_op_ids = [(4,0), (5,0)]'),
    (200, 300, 1, 'Optimizer.step#SGD.step, op_id = 12'),
    (205, 225, 1, 'aten::_foreach_add_, op_id = 13'),
    (310, 320, 1, 'decode, seq = 128'),
    (110, 150, 2, 'autograd::engine::evaluate_function: AddmmBackward0, seq = 10, op_id = 7'),
    (115, 145, 2, 'AddmmBackward0, seq = 10, op_id = 8'),
    (120, 140, 2, 'aten::mm, op_id = 9'),
    (160, 180, 2, 'autograd::engine::evaluate_function: AddmmBackward0, seq = 8, op_id = 10'),
    (162, 178, 2, 'AddmmBackward0, seq = 8, op_id = 11');
INSERT INTO call (start, end, thread, correlation) VALUES (25, 26, 1, 1), (70, 71, 1, 2), (125, 126, 2, 3), (210, 211, 1, 4), (165, 166, 2, 5);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (30, 50, 1, 'a'), (80, 100, 2, 'b'), (130, 160, 3, 'c'), (220, 230, 4, 'd'), (170, 175, 5, 'e');
