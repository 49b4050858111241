-- [own schema] The other process, without steps.
INSERT INTO run (rank, pid) VALUES (0, 200);
INSERT INTO kernel (start, end, correlation, name, pid) VALUES (0, 90000, 1, 'gelu_kernel', 200);
INSERT INTO call (start, end, correlation, pid) VALUES (0, 1, 1, 200);
