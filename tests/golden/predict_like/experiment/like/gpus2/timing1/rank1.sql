-- [own schema] Steps of 1300, timed.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 101);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1300), (2, 2600), (3, 3900)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1300, 101, 'swinscope', 'step' FROM step;
