-- [own schema] Steps of 1400, timed.
INSERT INTO run (rank, world, pid) VALUES (0, 4, 100);
CREATE TEMP TABLE step AS WITH s(k, t) AS (VALUES (0, 0), (1, 1400), (2, 2800), (3, 4200)) SELECT * FROM s;
INSERT INTO range (start, end, pid, domain, name) SELECT t, t + 1400, 100, 'swinscope', 'step' FROM step;
