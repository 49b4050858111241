-- [own schema] Steps by ProfilerStep# of the PyTorch profiler; they win over Optimizer.step#.
--
-- 1000 .. 3000 and 3000 .. 4000: lengths 2000 and 1000: mean and median 1500. Not steps: a name without a number, and the
-- annotation's shadow on the GPU.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES
    (1000, 3000, 'torch.user_annotation', 'ProfilerStep#12'), (3000, 4000, 'torch.user_annotation', 'ProfilerStep#13'),
    (500, 600, 'torch.user_annotation', 'ProfilerStep#'), (1200, 3300, 'torch.gpu_user_annotation', 'ProfilerStep#12'),
    (2800, 2900, 'torch.user_annotation', 'Optimizer.step#AdamW.step');
INSERT INTO kernel (start, end, name) VALUES (1100, 1200, 'a');
