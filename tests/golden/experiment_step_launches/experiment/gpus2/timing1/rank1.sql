-- [own schema] Kernels a, b, c again and again, the pause before each a being the longest: periods of 1000 from 1000 on, the last one
-- without an end: three. They are no steps for sure, so none is warm-up.
INSERT INTO run (rank, world, pid) VALUES (1, 2, 201);
INSERT INTO kernel (start, end, pid, device, name) VALUES
    (1000, 1100, 201, 1, 'a'), (1110, 1210, 201, 1, 'b'), (1220, 1320, 201, 1, 'c'),
    (2000, 2100, 201, 1, 'a'), (2110, 2210, 201, 1, 'b'), (2220, 2320, 201, 1, 'c'),
    (3000, 3100, 201, 1, 'a'), (3110, 3210, 201, 1, 'b'), (3220, 3320, 201, 1, 'c'),
    (4000, 4100, 201, 1, 'a'), (4110, 4210, 201, 1, 'b'), (4220, 4320, 201, 1, 'c');
