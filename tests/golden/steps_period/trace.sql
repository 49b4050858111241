-- [own schema] Steps by the periodicity of the kernel sequence, without any annotation.
--
-- Stream 7 runs a b c four times, and pauses longest before each a (at least 100 against 10): a step runs from an a to the next. The
-- last period has no end, so three steps: 1000 .. 1420 .. 1870 .. 2290, lengths 420, 450, 420: mean 430, median 420.
-- Stream 9 with fewer kernels does not matter.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, stream, name) VALUES
    (1000, 1100, 7, 'a'), (1110, 1210, 7, 'b'), (1220, 1320, 7, 'c'),
    (1420, 1520, 7, 'a'), (1530, 1630, 7, 'b'), (1640, 1740, 7, 'c'),
    (1870, 1970, 7, 'a'), (1980, 2080, 7, 'b'), (2090, 2190, 7, 'c'),
    (2290, 2390, 7, 'a'), (2400, 2500, 7, 'b'), (2510, 2610, 7, 'c'),
    (1005, 1015, 9, 'x'), (1500, 1600, 9, 'y'), (2000, 2100, 9, 'z');
