-- [own schema] Where nothing is known, no part is named as the largest known one.
--
-- render 0 .. 500 and blend 500 .. 1000: unknown 1000 of 1000 = 100 %. Every known part is 0.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, correlation, name) VALUES (0, 500, 1, 'render'), (500, 1000, 2, 'blend');
