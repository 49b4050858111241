-- [own schema] Steps of 2000, timed.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 2000), (2, 4000), (3, 6000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 2000, 100, 'swinscope', 'step' FROM step;
