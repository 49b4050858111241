-- [own schema] Two steps of two kernels of 5: they start 10 and 90 after their launches at 10 and 20. TKLQT 100 a step.
-- Queue: 2 x 100 from the first launch, at 10, to the last start, at 1110: 200 / 1100.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step'), (1000, 2000, 'swinscope', 'step');
INSERT INTO call (start, end, correlation) VALUES (10, 15, 1), (20, 25, 2), (1010, 1015, 3), (1020, 1025, 4);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (20, 25, 1, 'a'), (110, 115, 2, 'b'), (1020, 1025, 3, 'a'), (1110, 1115, 4, 'b');
