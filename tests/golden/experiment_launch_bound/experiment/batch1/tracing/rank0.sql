-- [own schema] Two steps of two kernels of 5: they start 10 and 10 after their launches at 10 and 20. TKLQT 20 a step.
-- Queue: 2 x 20 from the first launch, at 10, to the last start, at 1030: 40 / 1020.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step'), (1000, 2000, 'swinscope', 'step');
INSERT INTO call (start, end, correlation) VALUES (10, 15, 1), (20, 25, 2), (1010, 1015, 3), (1020, 1025, 4);
INSERT INTO kernel (start, end, correlation, name) VALUES
    (20, 25, 1, 'a'), (30, 35, 2, 'b'), (1020, 1025, 3, 'a'), (1030, 1035, 4, 'b');
