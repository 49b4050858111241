-- [own schema] What the user says goes first: three kernels that no rule knows, and a matrix product, of 100 each (25 %).
--
-- 1: without rules: three unknown, one gemm.
-- 2: render is conv by the first of two rules that match it; spread's class is communication, and so is what it does; of solve only the class
--    is said: compute, but what it computes stays unknown; the matrix product is attention, says the user.
-- 3: by class: two each; a rule for the class wins over the class of an operation.
-- 4 and 5: what is no rule is refused.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, name) VALUES
    (0, 100, 'void render<4>(int)'), (100, 200, 'void solve<4>(int)'), (200, 300, 'void spread<4>(int)'),
    (300, 400, 'ampere_sgemm_128x64_nn');
