-- [nsys 3.25] An export that does not say its rank: the number in the name does. Its kernel lasts 1 us.
INSERT INTO kernel (start, end, pid, name) VALUES (0, 1000, 100, 'a');
