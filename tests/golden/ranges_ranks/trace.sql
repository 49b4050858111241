-- [nsys 3.25] Two processes with the same thread numbers and correlation ids: each range has the launches of its own process.
--
-- rank 0 (GPU 0): forward 0 .. 100, kernel 20 .. 60 (40);  backward 200 .. 300, kernel 250 .. 300 (50)
-- rank 1 (GPU 1): forward 0 .. 150, kernel 30 .. 100 (70); it has no backward; a kernel of 10 is launched outside, at 400
-- together: forward 250 in 2 calls, mean 125, sum 110, span 110.
INSERT INTO range (start, end, pid, domain, name) VALUES
    (0, 100, 100, 'lib', 'forward'), (200, 300, 100, 'lib', 'backward'), (0, 150, 200, 'lib', 'forward');
INSERT INTO call (start, end, pid, correlation) VALUES (10, 15, 100, 1), (210, 215, 100, 2), (10, 15, 200, 1), (400, 405, 200, 2);
INSERT INTO kernel (start, end, pid, device, correlation, name) VALUES
    (20, 60, 100, 0, 1, 'a'), (250, 300, 100, 0, 2, 'a'), (30, 100, 200, 1, 1, 'a'), (410, 420, 200, 1, 2, 'a');
