-- [own schema] Steps by the ranges of our own workloads: `step` and `step N` in the domain swinscope. They win over ProfilerStep#.
--
-- 1000 .. 2000, 2000 .. 3200, 3200 .. 4300: lengths 1000, 1200, 1100: mean 1100, median 1100,
-- p5 = 1000 + 0.1 x 100 = 1010, p95 = 1100 + 0.9 x 100 = 1190, standard deviation 100: 9.0909 % of the mean.
-- Not steps: `steps` and `step x` (no number), `step` in another domain.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES
    (1000, 2000, 'swinscope', 'step'), (2000, 3200, 'swinscope', 'step 2'), (3200, 4300, 'swinscope', 'step 3'),
    (900, 5000, 'swinscope', 'steps'), (950, 960, 'swinscope', 'step x'), (100, 200, 'other', 'step'), (300, 400, '', 'step'),
    (1000, 2100, 'torch.user_annotation', 'ProfilerStep#7');
INSERT INTO kernel (start, end, name) VALUES (1100, 1200, 'a');
