-- [own schema] The thesis's definition where no CPU operations were recorded: not available, rather than a wrong 100 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, name) VALUES (900, 9000, 'nvtx');
INSERT INTO kernel (start, end, stream, name) VALUES (2000, 2300, 7, 'a'), (2100, 2300, 8, 'b');
