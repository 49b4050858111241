-- [own schema] Ranges of a library's own domain: the first is warm-up, then 1000 .. 2900, two steps: 950.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, domain, name) VALUES (0, 9000, 'lib', 'all'),
    (0, 1000, 'lib', 'work 1'), (1000, 1900, 'lib', 'work 2'), (2000, 2900, 'lib', 'work 3');
