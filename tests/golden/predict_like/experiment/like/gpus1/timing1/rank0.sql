-- [own schema] Steps of 1000, timed.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1000), (2, 2000), (3, 3000)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1000, 100, 'swinscope', 'step' FROM step;
