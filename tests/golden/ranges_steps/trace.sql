-- [own schema] Of the measured steps: the first of three is warm-up, so the scope is 200 .. 600 of the host, two steps.
--
-- Thread 1: train 0 .. 1000; in it step 1 100 .. 200, step 2 200 .. 400, step 3 400 .. 600, evaluate 700 .. 800;
--   in the steps, in another domain: sum 120 .. 150, 220 .. 280, 420 .. 480.
-- Thread 2: load 150 .. 250, 50 of it in the scope, and load 500 .. 650, 100 of it.
-- Kernels, each launched in a `sum` or in evaluate: 20 (warm-up), 40 (300 .. 340), 70 (450 .. 520), 10 (evaluate).
--
-- Steps that are numbered share a row: 2 calls of 200, self 2 x (200 - 60) = 280, sum 110, span 40 + 70, per step 200 and 55.
-- train: 400 of its 1000 are in the scope, the steps fill them; sum 110, span 300 .. 520 = 220.
-- sum: 2 calls, 120, per step 60. load: 2 calls, 150, mean 75, per step 75. evaluate has no part in the scope.
-- Apart, without the domain of `sum`: step 2 has 200, self 200, sum 40; step 3 200, 200, 70; divided by the two steps of the scope.
-- Of the whole trace: train 1000, self 1000 - 100 - 200 - 200 - 100 = 400, 4 kernels, 140, span 140 .. 730 = 590; step * 500 in 3
--   calls, mean 166, self 70 + 140 + 140 = 350, sum 130, span 20 + 40 + 70; sum 150; load 250, mean 125; evaluate 100, 10.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, name, domain) VALUES
    (0, 1000, 1, 'train', ''), (100, 200, 1, 'step 1', ''), (200, 400, 1, 'step 2', ''), (400, 600, 1, 'step 3', ''),
    (700, 800, 1, 'evaluate', ''), (120, 150, 1, 'sum', 'lib'), (220, 280, 1, 'sum', 'lib'), (420, 480, 1, 'sum', 'lib'),
    (150, 250, 2, 'load', ''), (500, 650, 2, 'load', '');
INSERT INTO call (start, end, correlation) VALUES (130, 135, 1), (230, 235, 2), (430, 435, 3), (710, 715, 4);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (140, 160, 1, 'a'), (300, 340, 2, 'a'), (450, 520, 3, 'a'), (720, 730, 4, 'a');
