-- [nsys 3.25] MPI says which process is which rank: it goes before the order of the devices.
--
-- process 100 uses GPU 0 and is MPI's rank 1 (kernel of 100 ns); process 200 uses GPU 1 and is rank 0 (300 ns);
-- process 300 uses GPU 2 and has no rank of MPI: it gets the first number that is free, 2 (50 ns).
-- The MPI calls themselves are not read: 2 rows are named.
CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);
INSERT INTO MPI_RANKS VALUES ((100 << 24) + 100, 1), ((200 << 24) + 200, 0);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER);
INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (0, 10, (100 << 24) + 100, 1), (0, 10, (200 << 24) + 200, 1);
INSERT INTO kernel (start, end, pid, device, name) VALUES
    (1000, 1100, 100, 0, 'a'), (1000, 1300, 200, 1, 'a'), (1000, 1050, 300, 2, 'a');
