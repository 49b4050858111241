-- [own schema] Ranges of two threads, one within another, start/end ranges that overlap, one that never ended. No steps.
--
-- Thread 1, pushed and popped:              launches there (call: kernel or copy of ns)
--   train        0 .. 1000                  700: 710 .. 720 (10), when `mark` has no length, so it belongs to train alone
--     forward    100 .. 300                 110: 150 .. 250 (100), 280: 400 .. 450 (50, after the range has ended)
--     forward    500 .. 600                 590: 600 .. 620 (20, a copy on stream 8)
--       forward  520 .. 580                 530: 600 .. 630 (30)
--     mark       700 .. 700
--     empty      800 .. 900
-- Thread 2: forward 200 .. 260              210: 300 .. 310 (10); thread 1 launches meanwhile, and that is not its own
--           loop    400 .. (open)           350: 360 .. 370 (10), in no range of its thread
-- started by thread 1: request 250 .. 650, ended by thread 2, and request 550 .. 950; they nest in nothing.
--
-- The recording ends with train at 1000, so loop takes 600. GPU time 100 + 50 + 20 + 30 + 10 + 10 + 10 = 230; in ranges 220.
-- train: self 1000 - 200 - 100 - 0 - 100 = 600; all five of thread 1: sum 210, span 150 .. 720 = 570.
-- train/forward: 200 + 100 = 300 in two calls, mean 150; self 200 + (100 - 60) = 240; sum (100 + 50) + (20 + 30) = 200;
--   span (150 .. 450 = 300) + (600 .. 630 = 30) = 330.
-- train/forward/forward: 60; sum 30.
-- request: 400 + 400; the first holds 280, 530, 590: sum 100, span 400 .. 630 = 230; the second 590, 700: sum 30, span
--   600 .. 720 = 120; together 130 and 350, 5 events.
-- By name: forward is called 2 + 1 + 1 = 4 times; its time is that of the outer ones: 300 + 60 = 360, mean 90; self 240 + 60 + 60;
--   sum 200 + 10 = 210, span 330 + 10 = 340, 5 events.
-- Of streams other than 8: the copy does not count: train 4 events, sum 190, span 570; forward 180, span 300 + 30;
--   request 80 + 10: the first 400 .. 630, the second 710 .. 720 = 10.
INSERT INTO run (rank, world, pid) VALUES (0, 1, 100);
INSERT INTO range (start, end, thread, name) VALUES
    (0, 1000, 1, 'train'), (100, 300, 1, 'forward'), (500, 600, 1, 'forward'), (520, 580, 1, 'forward'), (700, 700, 1, 'mark'),
    (800, 900, 1, 'empty'), (200, 260, 2, 'forward'), (400, NULL, 2, 'loop');
INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, globalTid, endGlobalTid, domainId) VALUES
    (250, 650, 60, 1, 'request', (100 << 24) | 1, (100 << 24) | 2, 0),
    (550, 950, 60, 2, 'request', (100 << 24) | 1, (100 << 24) | 1, 0);
INSERT INTO call (start, end, thread, correlation) VALUES
    (110, 120, 1, 1), (280, 290, 1, 2), (530, 540, 1, 3), (590, 595, 1, 4), (700, 705, 1, 5), (210, 220, 2, 6), (350, 355, 2, 7);
INSERT INTO kernel (start, end, stream, correlation, name) VALUES
    (150, 250, 7, 1, 'a'), (400, 450, 7, 2, 'b'), (600, 630, 7, 3, 'c'), (710, 720, 7, 5, 'd'), (300, 310, 9, 6, 'e'), (360, 370, 9, 7, 'f');
INSERT INTO copy (start, end, stream, correlation, bytes) VALUES (600, 620, 8, 4, 64);
