-- [own schema] Steps by the optimizer: a step ends where its range ends; of two optimizers the one that ends last in the first round
-- closes the step. The first step begins with the recording, which is the call at 1000.
--
-- AdamW ends at 2000, 3100 and 4000; SGD ends before it each time. Steps 1000 .. 2000 .. 3100 .. 4000: lengths 1000, 1100, 900.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES
    (1700, 1800, 'torch.user_annotation', 'Optimizer.step#SGD.step'), (1850, 2000, 'torch.user_annotation', 'Optimizer.step#AdamW.step'),
    (2700, 2800, 'torch.user_annotation', 'Optimizer.step#SGD.step'), (2850, 3100, 'torch.user_annotation', 'Optimizer.step#AdamW.step'),
    (3700, 3800, 'torch.user_annotation', 'Optimizer.step#SGD.step'), (3850, 4000, 'torch.user_annotation', 'Optimizer.step#AdamW.step');
INSERT INTO call (start, end, correlation) VALUES (1000, 1010, 1);
INSERT INTO kernel (start, end, correlation, name) VALUES (1100, 1200, 1, 'a');
