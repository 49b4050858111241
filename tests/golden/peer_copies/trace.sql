-- [own schema] A copy from one GPU to another is communication: half of it is beside a kernel. A copy within a GPU is none.
INSERT INTO run DEFAULT VALUES;
INSERT INTO kernel (start, end, name) VALUES (0, 1000, 'sm90_xmma_gemm_f16f16');
INSERT INTO copy (start, end, stream, kind, src, dst) VALUES (500, 1500, 20, 10, 2, 2);
INSERT INTO copy (start, end, kind, src, dst) VALUES (2000, 2300, 8, 2, 2);
