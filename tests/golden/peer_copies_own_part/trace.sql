-- [own schema] A sum carried by copies: the copy to a neighbour, then, when that GPU's part is there, the copy of its own part. What lies
-- between is a wait for the other rank, and both copies are communication. A copy within the GPU on a stream without such copies is none.
--
-- Step 0 .. 1000. Launches at 10 (peer copy 100 .. 200), 20 (own part 700 .. 800, same stream 20), 30 (copy within, stream 7, 800 .. 900).
-- Idle 0 .. 100: launched after the gap began: host 100. Idle 200 .. 700: launched before it, and ended by communication: 500.
-- Idle 900 .. 1000: host 100. Communication 100 + 100; copies that are none of it 100.
-- Bounds: waiting 500, transfer 200, for a copy waits for nobody once it runs; host 200, memory 100.
INSERT INTO run (rank) VALUES (0);
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step');
INSERT INTO call (start, end, correlation, name) VALUES (10, 15, 1, 'cudaMemcpyAsync'), (20, 25, 2, 'cudaMemcpyAsync'), (30, 35, 3, 'cudaMemcpyAsync');
INSERT INTO copy (start, end, stream, correlation, kind, src, dst) VALUES (100, 200, 20, 1, 10, 2, 2), (700, 800, 20, 2, 8, 2, 2), (800, 900, 7, 3, 8, 2, 2);
