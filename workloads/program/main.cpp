// The program `swin`: the instrumented workloads.
#include "workloads/program/program.h"

int main(int argc, char** argv) { return swinscope::run_swin(argc, argv); }
