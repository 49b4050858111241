-- [own schema] A run in which no process recorded itself, for want of NVTX and CUDA: the CPU time is what `record` saw.
--
-- The command (process 100, 1000 .. 5000) used 6000 ns, its child 200 4000 ns and children of that which no sample saw 500 ns:
-- 10500 ns in 4000 ns, of 4 cores: 10500 / 16000 = 65.625 %.
INSERT INTO run (rank, world, pid) VALUES (-1, 0, 99);
INSERT INTO SWINSCOPE_ENVIRONMENT (name, value) VALUES ('cpu.cores_allowed', '4');
INSERT INTO SWINSCOPE_PROCESS (
    globalPid, start, end, parentGlobalPid, rank, name, command, cpuNs, unseenCpuNs, maxRssBytes) VALUES
    (100 << 24, 1000, 5000, 0, NULL, 'sh', 'sh run.sh', 6000, 0, 0),
    (200 << 24, 2000, 4000, 100 << 24, NULL, 'python', 'python x.py', 4000, 500, 0);
