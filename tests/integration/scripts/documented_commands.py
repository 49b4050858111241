"""What the test of the documented commands does not run as it is printed, and why."""

# (expression that matches the whole command, reason). What such a command names must exist: the script, the program's
# sub-command and every option.
NOT_RUN = [
    (r"scripts/(demo|check)\.sh", "installs packages, builds and tests everything"),
    (r"scripts/package\.sh", "builds the release; scripts/package_check.sh installs what it makes"),
    (r"((srun|mpirun|torchrun) .*)?swinscope record .* -- python3 (train|server)\.py.*", "needs PyTorch, GPUs and a program of one's own"),
    (r"swinscope (analyze|advise) run", "looks at the recording of such a program"),
    (r"swinscope trigger serving", "starts such a recording"),
    (r"nsys export .*", "needs Nsight Systems"),
    (r"scripts/swinv2_scaling\.sh --cpus-only.*", "takes minutes; scripts_scaling_test runs it in small"),
    (r"scripts/(swin_large|swinv2)_scaling\.sh .*", "needs GPUs"),
    (r"(swinscope launch --ranks \d+ -- )?swin (infer|train) .*--device cuda.*", "needs a GPU"),
    (r"swinscope sweep .* -- swin infer --device cuda .*", "needs a GPU"),
    (r"swinscope report \S+ --quality .*", "needs what was measured of such a sweep"),
    (r"swin verify", "needs a GPU"),
    (r"swin quantize .*", "needs a GPU"),
    (r"python3 scripts/eight_bits\.py( .*)?", "needs a GPU"),
    (r"swin infer --model swin_base --weights timm\.safetensors .*", "needs weights from the network"),
    (r'python3 -c "import timm, .*"', "needs the network and PyTorch"),
    (r"swinscope gui .*", "opens a window"),
    (r"python3 scripts/reliability\.py .*", "takes minutes; record_reliability_test runs it in small"),
    (r"scripts/mutated_files\.py build/asan/bin .*", "needs a build with sanitizers; scripts_mutated_files_test runs it in small"),
    (r"scripts/fuzz\.sh .*", "builds with Clang, and takes minutes for each target"),
    (r"scripts/attack_package\.sh .*", "builds with sanitizers, twice"),
]

# Programs that are not ours: only that they are called is looked at.
OUTSIDE = {"mpirun", "nsys", "python3", "srun", "torchrun"}

# (text as printed, what is run instead, reason). Nothing else is changed.
INSTEAD = [
    ("$PWD/build/release/bin", "{bin}", "the build that is tested"),
    ("build/release/bin/", "", "the build that is tested, which PATH has"),
    ("--steps 100", "--steps 20", "time"),
    ("layers trace.json.gz", "layers rank0.json.gz", "the trace of that name is one of a CUDA graph, which has no operators"),
    ("swin make-data shapes --probe", "swin make-data shapes --images 400", "time: 20,000 pictures and a probe of them"),
    ("--epochs 10", "--epochs 1", "time"),
    ("--images 4000", "--images 80", "time"),
    ("--epochs 5", "--epochs 1", "time"),
]
