-- [nsys 3.25] Rows with unusable times are left out and counted by reason; the others are analyzed.
--
-- Kernels: two good ones (1000 .. 1100, 1200 .. 1300); one of length 0 is good too. Left out: two that end before they start, one
-- without a start, one without an end, one whose start is no integer, one whose end is text, one beyond 2^61.
-- Calls: one good, one negative. Copies: one negative. Ranges: one good, one still open (good: it ends with the recording, at 1350),
-- one negative.
-- gpu events 3, window 1000 .. 1300, busy 200 = 66.66... %.
INSERT INTO kernel (start, end, correlation, name) VALUES
    (1000, 1100, 1, 'a'), (1200, 1300, 2, 'a'), (1250, 1250, 3, 'a'), (2000, 1900, 4, 'a'), (3000, -3000, 5, 'a'),
    (NULL, 2000, 6, 'a'), (4000, NULL, 7, 'a'), (5000.5, 6000, 8, 'a'), (6000, 'soon', 9, 'a'),
    (7000, 4611686018427387904, 10, 'a');
INSERT INTO call (start, end, correlation) VALUES (900, 950, 1), (980, 970, 2);
INSERT INTO copy (start, end, bytes) VALUES (1400, 1399, 100);
INSERT INTO range (start, end, name) VALUES (800, 1350, 'outer'), (810, NULL, 'open'), (820, 819, 'negative');
