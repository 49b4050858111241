-- [nsys 3.25] An export that does not say its rank: the number in the name does. Its kernel lasts 11 us.
INSERT INTO kernel (start, end, pid, name) VALUES (0, 11000, 110, 'a');
