-- [own schema] Kernels a, b, c again and again, the pause before each a being the longest: periods of 1000 from 1000 on, the last one
-- without an end: three. They are no steps for sure, so none is warm-up.
INSERT INTO run (rank, world, pid) VALUES (0, 2, 200);
INSERT INTO kernel (start, end, pid, device, name) VALUES
    (1000, 1100, 200, 0, 'a'), (1110, 1210, 200, 0, 'b'), (1220, 1320, 200, 0, 'c'),
    (2000, 2100, 200, 0, 'a'), (2110, 2210, 200, 0, 'b'), (2220, 2320, 200, 0, 'c'),
    (3000, 3100, 200, 0, 'a'), (3110, 3210, 200, 0, 'b'), (3220, 3320, 200, 0, 'c'),
    (4000, 4100, 200, 0, 'a'), (4110, 4210, 200, 0, 'b'), (4220, 4320, 200, 0, 'c');
