-- [own schema] Our own training on a GPU, the step one graph: with one loader thread the device runs dry while the host waits.
--
-- The host is ahead of the device: it waits for a batch while the device still works on the one before, so that only a part of
-- the wait is lost.
--   step 1000 .. 2000 on thread 1: data 1000 .. 1700 (data.wait 1000 .. 1650), then the copy and the graph are launched.
--   step 2000 .. 3000: data 2000 .. 2750, launched likewise.
--   device: gemm 1800 .. 2300 (launched 1750), gemm 2900 .. 3300 (launched 2850);
--           copies 1710 .. 1740 (launched 1705) and 2760 .. 2790 (launched 2755), on a stream of their own.
-- Gaps: 1000 .. 1710 = 710, since the step began: the copy's launch began at 1705; at 1000 the thread was in `data`: input.
--       1740 .. 1800 = 60: the gemm's launch began at 1750, after the gap; at 1740 the thread waited for nothing: host.
--       2300 .. 2760 = 460: the copy's launch began at 2755; at 2300 the thread was in `data`: input.
--       2790 .. 2900 = 110: launched 2850; at 2790 it was in no `data`: host.
-- Window 1000 .. 3300 = 2300: compute 900, copies from the host 30 + 30 = 60, input 710 + 460 = 1170, host 170; per step half of it.
-- The wait of the host: 700 + 750 = 1450 of 2000 = 72.5 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, stream, correlation, name) VALUES (1800, 2300, 7, 2, 'sm90_xmma_gemm'), (2900, 3300, 7, 4, 'sm90_xmma_gemm');
INSERT INTO copy (start, end, stream, correlation, bytes) VALUES (1710, 1740, 8, 1, 100), (2760, 2790, 8, 3, 100);
INSERT INTO call (start, end, correlation, name) VALUES
    (1705, 1708, 1, 'cudaMemcpyAsync'), (1750, 1760, 2, 'cudaGraphLaunch'),
    (2755, 2758, 3, 'cudaMemcpyAsync'), (2850, 2860, 4, 'cudaGraphLaunch');
INSERT INTO range (start, end, domain, name) VALUES
    (1000, 2000, 'swinscope', 'step'), (1000, 1700, 'swinscope', 'data'), (1000, 1650, 'swinscope', 'data.wait'),
    (2000, 3000, 'swinscope', 'step'), (2000, 2750, 'swinscope', 'data'), (2000, 2700, 'swinscope', 'data.wait');
