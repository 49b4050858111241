-- [own schema] A timing run on a host with a GPU: CUDA was not traced, so what the GPU did is not known, and the host does not "compute".
INSERT INTO run (rank) VALUES (0);
INSERT INTO SWINSCOPE_ENVIRONMENT VALUES ('gpu.0.name', 'NVIDIA H100');
INSERT INTO range (start, end, domain, name) VALUES (0, 1000, 'swinscope', 'step'), (0, 300, 'swinscope', 'data'), (300, 1000, 'swinscope', 'forward');
