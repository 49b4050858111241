-- [own schema] No annotation and no period: no steps, and no figures per step. Two periods are too few (three are needed).
--
-- a 100, b 200, c 300 twice: busy 1200, totals 200, 400, 600, i.e. 16.66... %, 33.33... %, 50 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, name) VALUES
    (1000, 1100, 'a'), (1100, 1300, 'b'), (1300, 1600, 'c'), (1600, 1700, 'a'), (1700, 1900, 'b'), (1900, 2200, 'c');
