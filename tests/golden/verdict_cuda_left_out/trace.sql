-- [own schema] Steps of a program that used a GPU, of which nothing was recorded: the host waits for data during 600 of 1000, and
-- whether the GPU stood still meanwhile nobody knows. So how long it waited is told, and what bounds the time is not.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, thread, domain, name) VALUES
    (1000, 2000, 1, 'swinscope', 'step'), (1000, 1600, 1, 'swinscope', 'data');
INSERT INTO SWINSCOPE_COLLECTOR (name, value) VALUES ('cuda.activity', 'left out: --trace nvtx');
