-- [own schema] Training on a CPU rank with one loader thread: no GPU, so the steps of the host are judged.
--
--   step 1000 .. 2000: data 1000 .. 1600 (its data.wait lies within and counts once)
--   step 2000 .. 3000: data 2000 .. 2700, allreduce 2900 .. 3000
-- Not counted: data 3000 .. 3500 (validation, behind the last step), a data range of thread 2, one of another domain.
-- Input 600 + 700 = 1300 of 2000 = 65 %, the longest 700; communication 100 = 5 %, compute the rest 600 = 30 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (1000, 2000, 1, 'swinscope', 'step'), (1000, 1600, 1, 'swinscope', 'data'), (1000, 1590, 1, 'swinscope', 'data.wait'),
    (1600, 2000, 1, 'swinscope', 'forward'), (2000, 3000, 1, 'swinscope', 'step'), (2000, 2700, 1, 'swinscope', 'data'),
    (2900, 3000, 1, 'swinscope', 'allreduce'), (3000, 3500, 1, 'swinscope', 'data'),
    (1700, 1900, 2, 'swinscope', 'data'), (1700, 1900, 1, 'other', 'data');
